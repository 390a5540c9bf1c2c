//! Every category, kind of evidence, error, sign of hygiene and case of drift (spec RULE-3, EVID-6, HYG-1 to HYG-6).

use journal::{
    ChangedFile, Changes, Evidence, FileFacts, Timeline, TimelineSource, ToolCall, ToolKind,
};

use super::*;
use crate::config::Config;
use crate::message::compose;
use crate::policy::{Drift, Errors, ReadBeforeEdit, Wide};
use crate::rules::pack_names::ProjectFacts;

mod categories;
mod errors;
mod evidence;
mod outcomes;
mod properties;
mod reading;
mod signs;

const PROJECT: &str = "/home/me/app";

fn policy(top: &str) -> Policy {
    let files = top.split_whitespace().map(String::from).collect();
    Config::default()
        .policy_for(
            &ProjectFacts {
                path: PROJECT.into(),
                files,
            },
            None,
        )
        .unwrap()
}

fn teleclaude() -> Policy {
    policy("teleclaude/ pyproject.toml tests/")
}

/// Reads a turn: `$ command`, `! command -> output` for a failed one, `read PATH`, `edit PATH`, `write PATH`.
fn calls(lines: &[&str]) -> Vec<ToolCall> {
    let call = |line: &&str| {
        let (word, rest) = line.split_once(' ').unwrap();
        let (rest, output) = rest.split_once(" -> ").unwrap_or((rest, ""));
        let (tool, kind) = match word {
            "$" | "!" => ("Bash", ToolKind::Shell),
            "read" | "!read" => ("Read", ToolKind::Read),
            "edit" | "!edit" => ("Edit", ToolKind::Edit),
            "search" => ("grep_search", ToolKind::Other),
            "other" | "!other" => (rest, ToolKind::Other),
            "list" => ("list_directory", ToolKind::Other),
            "write" => ("Write", ToolKind::Write),
            other => panic!("{other}"),
        };
        let is_shell = kind == ToolKind::Shell;
        ToolCall {
            tool: tool.into(),
            kind,
            command: is_shell.then(|| rest.to_owned()),
            paths: if is_shell || word.ends_with("other") {
                Vec::new()
            } else {
                vec![rest.to_owned()]
            },
            is_error: word.starts_with('!'),
            finished: true,
            output: output.to_owned(),
            ..ToolCall::default()
        }
    };
    lines.iter().map(call).collect()
}

fn evidence(changed: &str, lines: &[&str]) -> Evidence {
    let mut files: Vec<_> = changed
        .split_whitespace()
        .map(|path| ChangedFile {
            path: path.into(),
            hash: Some(1),
        })
        .collect();
    files.sort();
    Evidence {
        changes: Changes::Known(files),
        timeline: Timeline {
            source: TimelineSource::Transcript,
            calls: calls(lines),
        },
        ..Evidence::default()
    }
}

fn found(changed: &str, lines: &[&str], policy: &Policy) -> Findings {
    find(&evidence(changed, lines), Some(95_000), PROJECT, policy)
}

/// Prints categories, actions and observations.
fn show(findings: &Findings) -> String {
    let mut lines = vec![format!("[{}]", findings.categories.join(", "))];
    lines.extend(
        findings
            .actions
            .iter()
            .map(|action| format!("  {:?}: {} ({})", action.step, action.text, action.category)),
    );
    lines.extend(
        findings
            .observations
            .iter()
            .map(|line| format!("  - {line}")),
    );
    let flags = [
        (findings.all_clear, "all clear"),
        (findings.docs_only, "docs only"),
        (findings.generic, "generic"),
    ];
    lines.extend(
        flags
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, word)| format!("  = {word}")),
    );
    lines.join("\n")
}

/// Without a timeline: what the changed files alone ask for.
fn asked(changed: &str, policy: &Policy) -> String {
    let mut evidence = evidence(changed, &[]);
    evidence.timeline.source = TimelineSource::None;
    format!(
        "{changed}\n{}",
        show(&find(&evidence, None, PROJECT, policy))
    )
}

#[test]
fn criterion_5_only_documents() {
    let policy = teleclaude();
    insta::assert_snapshot!(compose(&found("docs/a.md todos/b.md", &[], &policy), &policy, uuid::Uuid::nil()), @r#"
    [TeleClaude Checkpoint] - Context-aware checkpoint

    No code changes were found.

    Required actions, in this order:
    1. Check the logs with `instrukt-ai-logs teleclaude --since 2m`

    Observations:
    - The turn ends but `instrukt-ai-logs` was not observed this turn

    Capture memories/bugs/ideas worth keeping.

    Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

    Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    "#);
}

#[test]
fn criterion_13_all_done() {
    let policy = teleclaude();
    let lines = [
        "read teleclaude/a.py",
        "edit teleclaude/a.py",
        "$ make restart; make status",
        "$ uv sync; tox",
        "$ instrukt-ai-logs",
    ];
    insta::assert_snapshot!(compose(&found("teleclaude/a.py", &lines, &policy), &policy, uuid::Uuid::nil()), @"[TeleClaude Checkpoint] - All expected validations were observed.");
}

#[test]
fn criterion_14_no_transcript() {
    let policy = teleclaude();
    let mut evidence = evidence("teleclaude/a.py", &[]);
    evidence.timeline.source = TimelineSource::None;
    insta::assert_snapshot!(compose(&find(&evidence, Some(130_000), PROJECT, &policy), &policy, uuid::Uuid::nil()), @r#"
    [TeleClaude Checkpoint] - Context-aware checkpoint

    Changed: daemon code

    Required actions, in this order:
    1. Run `make restart` then `make status`
    2. Check the logs with `instrukt-ai-logs teleclaude --since 3m`
    3. Run targeted tests for the changed behavior

    Capture memories/bugs/ideas worth keeping.

    Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

    Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    "#);
}

#[test]
fn unknown_changes_give_the_general_message() {
    for changes in [Changes::Unknown("git_missing".into()), Changes::NotAsked] {
        let findings = find(
            &Evidence {
                changes,
                ..Evidence::default()
            },
            None,
            PROJECT,
            &teleclaude(),
        );
        assert_eq!(
            findings,
            Findings {
                generic: true,
                ..Findings::default()
            }
        );
    }
}

#[test]
fn the_log_window_follows_the_turn() {
    let window = |elapsed_ms| {
        let findings = find(
            &evidence("docs/a.md", &[]),
            elapsed_ms,
            PROJECT,
            &teleclaude(),
        );
        findings.actions[0]
            .text
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    let table = [None, Some(0), Some(120_000), Some(120_001), Some(3_600_000)].map(window);
    insta::assert_snapshot!(table.join(" "), @"2m` 2m` 2m` 3m` 60m`");
}

#[test]
fn a_demand_is_its_actions_and_contents() {
    let policy = teleclaude();
    let demand = |changed: &str, lines: &[&str], elapsed| {
        find(&evidence(changed, lines), Some(elapsed), PROJECT, &policy).demand
    };
    let base = demand("teleclaude/a.py", &[], 60_000);
    assert!(base.is_some());
    assert_eq!(base, demand("teleclaude/a.py", &["$ ls"], 600_000));
    assert_ne!(base, demand("teleclaude/a.py", &["$ make restart"], 60_000));
    assert_ne!(base, demand("teleclaude/a.py teleclaude/b.py", &[], 60_000));
    let mut edited = evidence("teleclaude/a.py", &[]);
    edited.changes = Changes::Known(vec![ChangedFile {
        path: "teleclaude/a.py".into(),
        hash: Some(2),
    }]);
    assert_ne!(base, find(&edited, Some(60_000), PROJECT, &policy).demand);
    let done = [
        "$ make restart; make status",
        "$ pytest",
        "$ instrukt-ai-logs",
    ];
    assert_eq!(demand("teleclaude/a.py", &done, 60_000), None);
}

#[test]
fn a_trace_says_what_was_found() {
    let findings = found(
        "src/a.rs",
        &[
            "$ cargo test",
            "write src/a.rs",
            "! cargo nextest run -> failed",
        ],
        &policy("Cargo.toml"),
    );
    insta::assert_json_snapshot!(findings.trace, @r#"
    [
      {
        "rule": "Rust code",
        "pack": "rust",
        "files": [
          "src/a.rs"
        ],
        "actions": [
          {
            "purpose": "tests",
            "text": "Run the tests that cover the changed Rust code (`cargo test`)",
            "stands": true,
            "looked_for": [
              "cargo test",
              "cargo nextest",
              "cargo t",
              "cargo llvm-cov",
              "cargo tarpaulin",
              "cargo insta test",
              "cargo miri test",
              "make test",
              "make check",
              "just test",
              "just check"
            ],
            "found": [
              {
                "call": 0,
                "command": "cargo test",
                "outcome": "before_edit"
              },
              {
                "call": 2,
                "command": "cargo nextest run",
                "outcome": "failed"
              }
            ]
          }
        ]
      }
    ]
    "#);
}
