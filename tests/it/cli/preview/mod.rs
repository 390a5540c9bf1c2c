//! `preview` and `rules` as commands, with real repositories and transcripts in the three agents' formats.

mod checkpoints;
mod rules;
mod sessions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::git::{commit_all, git};
use crate::support::{Home, run, text, wait_until};
use transcripts::Did::{self, Edited, Failed, Ran, Read};
use transcripts::{at, transcript};

mod transcripts;

const AGENTS: [&str; 3] = ["claude", "gemini", "codex"];

/// Returns a repository with these files committed, in a home of its own.
fn project(files: &[&str]) -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.path().join("project");
    fs::create_dir_all(&project).expect("a folder");
    for file in files {
        write(&project, file, "before\n");
    }
    commit_all(&project);
    (home, project)
}

fn write(project: &Path, file: &str, text: &str) {
    let path = project.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("writable");
}

fn checkpointd(home: &Home, arguments: &[&str]) -> Output {
    run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
        b"",
    )
}

/// Runs `preview --json` in a project.
#[track_caller]
fn preview(home: &Home, arguments: &[&str]) -> Value {
    let output = checkpointd(home, &[&["rules", "preview", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|item| item["text"].as_str().or(item.as_str()).expect("text"))
        .collect()
}

const RESTART: &str = "Run `make restart` then `make status`";
const RELOAD: &str = "Run `pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'`";
const LOGS: &str = "Check the logs with `instrukt-ai-logs teleclaude --since 4m`";
const TESTS: &str = "Run targeted tests for the changed behavior";
const NO_RESTART: &str = "Daemon code was modified but `make restart` was not observed this turn";
const NO_LOGS: &str = "The turn ends but `instrukt-ai-logs` was not observed this turn";
const NO_TESTS: &str =
    "Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn";
const DAEMON: &str = "teleclaude/core/a.py";
const TUI: &str = "teleclaude/cli/tui/v.py";

/// What was done, and what a preview says to it: reason, actions, observations.
type Row = (
    &'static str,
    Vec<Did>,
    &'static str,
    Vec<&'static str>,
    Vec<&'static str>,
);

/// Checks that all three agents' transcripts of the same work give the same answer, and the right one.
#[track_caller]
fn check(home: &Home, project: &Path, rows: Vec<Row>) {
    for (when, did, reason, actions, observations) in rows {
        let mut first = None;
        for agent in AGENTS {
            let file = transcript(home, agent, project, &did);
            let mut answer = preview(
                home,
                &[
                    "--agent",
                    agent,
                    "--project",
                    path(project),
                    "--transcript",
                    path(&file),
                    "--elapsed",
                    "180.2s",
                ],
            );
            let timeline = answer["timeline"].take();
            assert_eq!(timeline["source"], "transcript");
            assert_eq!(
                timeline["calls"].as_array().map(Vec::len),
                Some(did.len()),
                "{when}, {agent}"
            );
            assert_eq!(answer["reason"], reason, "{when}, {agent}");
            assert_eq!(texts(&answer["actions"]), actions, "{when}, {agent}");
            assert_eq!(
                texts(&answer["observations"]),
                observations,
                "{when}, {agent}"
            );
            assert_eq!(answer["all_clear"], reason == "all_clear");
            assert_eq!(
                (&answer["verdict"], &answer["route"]),
                (&json!("inject"), &json!("hook_reply"))
            );
            assert_eq!(
                *first.get_or_insert_with(|| answer.clone()),
                answer,
                "{when}, {agent}"
            );
        }
    }
}

/// Returns a recorded hook call of a session in a project, some time ago.
fn hook(project: &Path, tmp: &Path, event: &str, seconds_ago: u64, more: &Value) -> Value {
    let at = journal::Timestamp::now()
        .minus(Duration::from_secs(seconds_ago))
        .to_string();
    let mut payload =
        json!({"session_id":"one","hook_event_name":event,"cwd":project,"prompt_id":"p1"});
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    json!({"agent":"claude","at":at,"env":{"TMPDIR":tmp},"payload":payload})
}
