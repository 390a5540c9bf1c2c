//! Commands that print JSON.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{CHECKPOINTD, Transcript, data};
use crate::support::git::commit_all;
use crate::support::machine::Machine;
use crate::support::{put_script, run, text};

fn read(name: &str) -> String {
    fs::read_to_string(data(name)).expect("data")
}

#[test]
fn answers_about_the_past() {
    let mut asked = Transcript::of(&read("audit.ndjson"));
    fs::write(asked.home.path().join("new.yml"), "min_turn: 60s\n").expect("writes");
    let config = "journal: {retention: {payloads: 0s, kinds: {prompt_submitted: forever}}}\n";
    fs::write(asked.home.path().join("config.yml"), config).expect("writes");
    let calls = read("fixtures/claude/h-stop-block-once.ndjson");
    fs::write(asked.home.path().join("calls.ndjson"), &calls).expect("writes");
    asked.known.push_str(&calls);
    for question in [
        "sessions",
        "status",
        "timeline 3f0a",
        "timeline 3f0a --turn 2",
        "timeline gemini",
        "journal state 3f0a",
        "journal state 8c4e",
        "journal state 3f0a --at 9",
        "journal state 3f0a --at 2026-11-20T09:01:15.000000Z",
        "journal state 3f0a --diff 5 20",
        "audit",
        "audit --agent gemini --verdict inject",
        "audit --text nothing",
        "stats --since 2026-11-01",
        "explain",
        "explain 13",
        "explain 22",
        "explain 33",
        "explain --session 3f0a",
        "explain 14",
        "replay --verify",
        "replay --session 3f0a --verify",
        "replay --policy new.yml",
        "replay --file calls.ndjson",
        "journal tail -n 100",
        "journal tail -n 3 --agent claude --kind decided",
        "journal sql select_*_from_sessions",
        "journal sql --schema",
        "journal stats",
        "journal verify",
        "journal restore",
        "journal backup copy",
        "journal compact --dry-run",
        "journal compact",
        "daemon status",
        "config show",
        "mute --once 3f0a",
    ] {
        let mut arguments: Vec<String> = question
            .split(' ')
            .map(|word| word.replace("_*_", " * ").replace("from_", "from "))
            .collect();
        arguments.push("--json".into());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        asked.ask(&arguments);
    }
    asked.ask(&["journal", "export"]);
    asked.check("past.txt");
}

/// More kinds of events: a journal of a released version.
#[test]
fn answers_about_a_journal_of_the_first_version() {
    let mut asked = Transcript::of(&read("journals/v1/export.ndjson"));
    for question in [
        &["sessions"][..],
        &["status"],
        &["audit"],
        &["stats", "--since", "2026-11-01"],
        &["explain"],
        &["timeline", "last"],
        &["journal", "state", "last"],
        &["journal", "tail", "-n", "1000"],
        &["journal", "stats"],
    ] {
        asked.ask(&[question, &["--json"]].concat());
    }
    asked.check("first-version.txt");
}

/// A repository whose commit is the same everywhere.
fn repository(folder: &Path) {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").expect("writes");
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"x\"\n").expect("writes");
    fs::write(
        folder.join(".checkpointd.yml"),
        "rules: [{name: database schema, include: ['migrations/**'], actions: [{text: Run the migration (`make migrate-test`)}]}]\n",
    )
    .expect("writes");
    commit_all(folder);
}

/// Appends a session that has edited a file of the project.
fn append(asked: &mut Transcript, project: &Path) {
    let hooks = [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "go on" })),
        (
            "PostToolUse",
            json!({ "tool_name": "Write", "tool_use_id": "t1", "tool_response": { "type": "create" },
                "tool_input": { "file_path": project.join("src/main.rs"), "content": "x" } }),
        ),
    ];
    let mut calls = String::new();
    for (number, (event, mut payload)) in hooks.into_iter().enumerate() {
        payload["session_id"] = "5e55".into();
        payload["hook_event_name"] = event.into();
        payload["cwd"] = project.display().to_string().into();
        let call = json!({ "agent": "claude", "at": format!("2026-11-20T09:00:0{number}Z"),
            "id": format!("00000000-0000-7000-8000-00000000000{number}"), "payload": payload });
        calls.push_str(&format!("{call}\n"));
    }
    asked.known.push_str(&calls);
    let arguments = ["journal", "append", "--json"];
    let output = run(&mut asked.command(&arguments), calls.as_bytes());
    asked.add("checkpointd journal append --json", &text(&output.stdout));
}

const ABOUT_A_PROJECT: &[&[&str]] = &[
    &["rules"],
    &["rules", "list"],
    &[
        "rules",
        "match",
        "src/main.rs",
        "migrations/1.sql",
        "README.md",
    ],
    &["rules", "check"],
    &["rules", "check", "wrong.yml"],
    &["rules", "preview", "--agent", "claude", "--elapsed", "90s"],
    &["rules", "preview", "--agent", "gemini", "--elapsed", "5s"],
    &[
        "rules",
        "preview",
        "--agent",
        "codex",
        "--elapsed",
        "90s",
        "--slug",
        "x",
    ],
    &["progress", "phase", "list"],
    &["progress", "phase", "detect"],
    &[
        "progress",
        "phase",
        "create",
        "--phase",
        "build",
        "--number",
        "4",
        "--summary",
        "half of it",
        "--metadata",
        "branch=parser",
    ],
    &["progress", "phase", "list"],
    &["progress", "phase", "detect"],
    &["progress", "phase", "show", "0"],
    &["progress", "phase", "complete", "0"],
    &["progress", "phase", "show", "1"],
    &["progress", "phase", "cleanup", "--older-than", "0s"],
    &["progress", "phase", "rebuild"],
    &["progress", "phase", "show", "nothing"],
    &["progress", "show"],
    &[
        "progress", "write", "--type", "handoff", "--from", "notes.md",
    ],
    &["progress", "show"],
    &["progress", "validate"],
    &["progress", "rebuild"],
    &[
        "progress",
        "write",
        "--type",
        "handoff",
        "--from",
        "absent.md",
    ],
];

#[test]
fn answers_about_a_project() {
    let mut asked = Transcript::new();
    let project = asked.home.path().join("project");
    repository(&project);
    asked.ask(&[
        "rules",
        "check",
        "project/.checkpointd.yml",
        "--project",
        "project",
        "--json",
    ]);
    asked.home.trust(&project);
    asked.ask(&["rules", "trust", "--list", "--json"]);
    let phases = asked.home.path().join("phases");
    fs::write(
        asked.home.path().join("config.yml"),
        format!("phase: {{folder: '{}'}}\n", phases.display()),
    )
    .expect("writes");
    fs::write(project.join("src/main.rs"), "fn main() { run() }\n").expect("writes");
    fs::create_dir_all(project.join("migrations")).expect("a folder");
    fs::write(project.join("migrations/1.sql"), "select 1;\n").expect("writes");
    fs::write(
        project.join("notes.md"),
        "## Goal\nA parser\n\n## Remaining\n- error messages\n\n## Must Read\n- src/main.rs - goes on here\n",
    )
    .expect("writes");
    fs::write(project.join("wrong.yml"), "rules: [{nam: x}]\n").expect("writes");
    append(&mut asked, &project);
    for question in ABOUT_A_PROJECT {
        let arguments = [*question, &["--json"]].concat();
        let mut command = asked.command(&arguments);
        command.current_dir(&project);
        asked.ask_by(command, &arguments);
    }
    asked.check("project.txt");
}

#[test]
fn answers_about_a_machine() {
    let mut asked = Transcript::new();
    let machine = Machine::all();
    for (program, version) in [("git", "git version 2.47.3"), ("tmux", "tmux 3.3a")] {
        put_script(
            &machine.path("bin").join(program),
            &format!("#!/bin/sh\necho '{version}'\n"),
        );
    }
    for question in [
        &["doctor"][..],
        &["init", "--dry-run"],
        &["init"],
        &["init"],
        &["doctor"],
        &["config", "show"],
        &["uninstall", "--dry-run"],
        &["uninstall", "--agent", "gemini", "-y"],
        &["uninstall", "-y", "--purge"],
    ] {
        let arguments = [question, &["--json"]].concat();
        asked.ask_by(machine.command(CHECKPOINTD, &arguments), &arguments);
    }
    asked.text = asked
        .text
        .replace(&*machine.path("").to_string_lossy(), "MACHINE/");
    asked.check("machine.txt");
}
