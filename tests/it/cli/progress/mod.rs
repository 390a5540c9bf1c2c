//! Progress documents from the outside: written by command and by themselves, checked, and told to a session that begins.

mod auto;
mod documents;
mod facts;
mod resume;
mod tampered;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::daemon::Daemon;
use crate::support::git::{commit_all, git};
use crate::support::terminal::until;
use crate::support::{Home, run, wait_until};

const LATEST: &str = ".ai-instructions/concepts/memory-bank/progress-checkpoint.md";
const STATED: &str = "## Goal\nA parser\n\n## Remaining\n- error messages\n\n## Must Read\n- src.rs - goes on here\n";

/// A repository with one commit.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("src.rs"), "one\n").expect("writes");
    fs::write(folder.path().join("Cargo.lock"), "1\n").expect("writes");
    commit_all(folder.path());
    folder
}

/// Calls a hook of an agent in a project, and returns what the client printed.
fn hook(
    home: &Home,
    agent: &str,
    session: &str,
    project: &Path,
    event: &str,
    fields: Value,
) -> String {
    let mut payload = json!({ "session_id": session, "cwd": project, "hook_event_name": event });
    fields
        .as_object()
        .expect("an object")
        .iter()
        .for_each(|(key, value)| payload[key] = value.clone());
    let output = run(&mut home.client(&[agent]), payload.to_string().as_bytes());
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    String::from_utf8(output.stdout).expect("text")
}

/// A session that has asked for something and edited a file.
fn work(home: &Home, session: &str, project: &Path, file: &str) {
    hook(
        home,
        "claude",
        session,
        project,
        "SessionStart",
        json!({ "source": "startup" }),
    );
    hook(
        home,
        "claude",
        session,
        project,
        "UserPromptSubmit",
        json!({ "prompt": "go on", "prompt_id": "p" }),
    );
    let path = project.join(file);
    fs::write(&path, format!("by {session}\n")).expect("writes");
    let fields = json!({ "tool_name": "Write", "tool_use_id": format!("{session}-{file}"), "prompt_id": "p",
        "tool_input": { "file_path": path, "content": "x" }, "tool_response": { "type": "create" } });
    hook(home, "claude", session, project, "PostToolUse", fields);
}

fn command(home: &Home, project: &Path, arguments: &[&str]) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments);
    command.current_dir(project);
    command
}

fn ask(home: &Home, project: &Path, arguments: &[&str], input: &str) -> (i32, Value) {
    let output = run(&mut command(home, project, arguments), input.as_bytes());
    let text = String::from_utf8(output.stdout).expect("text");
    let code = output.status.code().expect("no signal");
    (
        code,
        serde_json::from_str(&text).unwrap_or_else(|_| {
            panic!(
                "{code} {text} {:?}",
                String::from_utf8_lossy(&output.stderr)
            )
        }),
    )
}

fn events(daemon: &Daemon, kind: &str) -> Vec<Value> {
    daemon.ask(&["journal", "tail", "-n", "1000", "--kind", kind, "--json"])
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}
