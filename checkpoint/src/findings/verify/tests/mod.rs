//! Tasks, packages, builds and runs as evidence (spec EVID-20 to EVID-24, RULE-19).

use journal::{
    ChangedFile, Changes, Evidence, Package, Task, Timeline, TimelineSource, ToolCall, ToolKind,
    Workspace,
};

use crate::config::Config;
use crate::findings::find;
use crate::policy::{Commands, Policy, Uncovered, VerifiedCode};
use crate::rules::pack_names::ProjectFacts;

mod companions;
mod ecosystems;
mod ended;
mod grid;
mod inline;
mod properties;
mod sessions;
mod tasks;
mod turns;
mod units;
mod unknown;
mod workspaces;

const PROJECT: &str = "/home/me/app";

fn policy() -> Policy {
    let facts = ProjectFacts {
        path: PROJECT.into(),
        files: ["package.json", "Cargo.toml", "go.mod", "setup.py"]
            .map(String::from)
            .to_vec(),
    };
    Config::default().policy_for(&facts, None).unwrap()
}

/// A project: `web: name` is a package, `web npm test: vitest` a task, `a.ts < a.test.ts` a file and the tests that cover it.
fn project(lines: &str) -> Workspace {
    let mut workspace = Workspace {
        packages: vec![Package::default()],
        ..Workspace::default()
    };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some((file, tests)) = line.split_once(" < ") {
            let tests = tests.split_whitespace().map(String::from).collect();
            workspace.covered.push((file.into(), tests));
            continue;
        }
        let (head, text) = line.split_once(": ").unwrap();
        let folder = |folder: &str| folder.trim_matches('.').to_owned();
        match head.split(' ').collect::<Vec<_>>().as_slice() {
            [place, runner, name] => workspace.tasks.push(Task {
                folder: folder(place),
                runner: (*runner).into(),
                name: (*name).into(),
                text: text.replace(" ;; ", "\n"),
            }),
            [place] => workspace.packages.push(Package {
                folder: folder(place),
                name: text.into(),
                ..Package::default()
            }),
            other => panic!("{other:?}"),
        }
    }
    workspace
}

/// A turn: `edit PATH`, `$ command`, `! command -> output` for a failed one, `tool NAME`.
fn turn(workspace: &Workspace, lines: &[&str]) -> Evidence {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut calls = Vec::new();
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap();
        let (rest, output) = rest.split_once(" -> ").unwrap_or((rest, ""));
        let kind = match word {
            "edit" | "gone" | "empty" => ToolKind::Edit,
            "tool" => ToolKind::Other,
            _ => ToolKind::Shell,
        };
        if kind == ToolKind::Edit && !files.iter().any(|file| file.path == rest) {
            let empty = crate::digest::of_bytes(b"");
            let hash = match word {
                "gone" => None,
                "empty" => Some(empty),
                _ => Some(1),
            };
            files.push(ChangedFile {
                path: rest.into(),
                hash,
            });
        }
        calls.push(ToolCall {
            tool: if kind == ToolKind::Other {
                rest
            } else {
                "Bash"
            }
            .into(),
            kind,
            command: (kind == ToolKind::Shell).then(|| rest.to_owned()),
            paths: if kind == ToolKind::Edit {
                vec![rest.to_owned()]
            } else {
                Vec::new()
            },
            is_error: word == "!",
            finished: true,
            output: output.into(),
            ..ToolCall::default()
        });
    }
    files.sort();
    let mut evidence = Evidence {
        changes: Changes::Known(files),
        timeline: Timeline {
            source: TimelineSource::Transcript,
            calls,
        },
        ..Evidence::default()
    };
    evidence.facts.workspace = Some(workspace.clone());
    evidence
}

/// Returns what is asked for at the end of a turn, or `-`.
fn asked_by(policy: &Policy, workspace: &Workspace, lines: &[&str]) -> String {
    let findings = find(&turn(workspace, lines), Some(95_000), PROJECT, policy);
    let texts: Vec<&str> = findings
        .actions
        .iter()
        .map(|action| action.text.as_str())
        .collect();
    let shown: Vec<&str> = lines
        .iter()
        .map(|line| line.split('\n').next().unwrap_or_default())
        .collect();
    let answer = if texts.is_empty() {
        "-".to_owned()
    } else {
        texts.join(" | ")
    };
    format!("{}\n    {answer}", shown.join(" ; "))
}

fn asked(workspace: &Workspace, lines: &[&str]) -> String {
    asked_by(&policy(), workspace, lines)
}
