//! Agents that config.yml describes, from the installed hook to the journal, with the real programs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::machine::{Machine, RunningDaemon};
use crate::support::run;

const EVERY_STOP: &str = "min_turn: 0s\nunchanged: message\nheadless: always\n";
const BUDDY: &str = "agents:\n  - name: buddy\n    settings: ~/.buddy/settings.json\n    project: .buddy\n    \
    fields: {prompt: message, cwd: working_dir}\n    tools: {shell: [run_it], edit: [change]}\n    \
    transcripts: ~/.buddy/sessions/*/*.jsonl\n    variables: [BUDDY_SESSION]\n";

fn payload(machine: &Machine, fields: &Value) -> Value {
    let mut payload = json!({ "session_id": "one", "working_dir": machine.home() });
    let fields = fields.as_object().expect("fields").clone();
    payload.as_object_mut().expect("an object").extend(fields);
    payload
}

fn events(machine: &Machine) -> Vec<Value> {
    machine.rows(&["journal", "tail", "--json", "--agent", "buddy"])
}

#[test]
fn a_described_agent_gets_one_checkpoint_and_leaves_its_settings_as_they_were() {
    let machine = Machine::with(&[("buddy", "1.0.0")]);
    machine.write(
        ".config/checkpointd/config.yml",
        format!("{EVERY_STOP}{BUDDY}"),
    );
    machine.write(".buddy/settings.json", "{\n   \"theme\": \"dark\"\n}");
    let before = machine.tree();
    machine.ok(&["init"]);
    assert_ne!(machine.tree(), before);
    let daemon = RunningDaemon::start(&machine);
    let file = ".buddy/settings.json";
    let call = |event: &str, fields: Value| machine.hook(file, event, &payload(&machine, &fields));

    assert_eq!(
        call("UserPromptSubmit", json!({ "message": "change it" })),
        ""
    );
    let input = json!({ "command": "make test" });
    let tool =
        json!({ "tool_name": "run_it", "tool_input": input, "tool_response": "Exit code 2\nno" });
    assert_eq!(call("PostToolUse", tool), "");
    let input = json!({ "path": "a.rs" });
    let tool = json!({ "tool_name": "change", "tool_input": input, "tool_response": "done" });
    assert_eq!(call("PostToolUse", tool), "");
    let reply = call("Stop", json!({ "stop_hook_active": false }));
    let reply: Value = serde_json::from_str(&reply).expect("a checkpoint");
    assert_eq!(reply["decision"], "block");
    let text = reply["reason"].as_str().expect("a text");
    assert!(text.starts_with("[checkpointd] "), "{text}");
    assert_eq!(call("Stop", json!({ "stop_hook_active": true })), "");

    let sessions = machine.rows(&["sessions", "--json", "--agent", "buddy"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let explained = machine.ok(&["explain", "--json"]);
    assert!(
        explained.contains("\"agent\":\"buddy\"") || explained.contains("\"agent\": \"buddy\"")
    );
    let all = format!("{:?}", events(&machine));
    assert!(
        all.contains("Bash") && all.contains("Edit") && all.contains("make test"),
        "{all}"
    );
    assert!(machine.ok(&["status"]).contains("buddy"));
    let fired = machine.run(&["doctor", "--fire", "buddy"]);
    assert_eq!(fired.status.code(), Some(0), "{fired:?}");

    // The journal is read, and its decisions are made again, without the description.
    machine.write(".config/checkpointd/config.yml", EVERY_STOP);
    assert!(machine.ok(&["sessions"]).contains("buddy"));
    machine.ok(&["replay", "--verify"]);
    drop(daemon);
    machine.ok(&["journal", "verify"]);
    machine.ok(&["uninstall", "--agent", "buddy"]);
    machine.write(
        ".config/checkpointd/config.yml",
        format!("{EVERY_STOP}{BUDDY}"),
    );
    assert_eq!(machine.tree(), before);
}

#[test]
fn hooks_without_groups_are_written_and_removed_byte_for_byte() {
    let flat = "agents: [{name: buddy, settings: ~/.buddy/hooks.json, format: flat, reply: nested, events: [Stop]}]\n";
    for original in [
        None,
        Some(
            "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"command\": \"say done\" }\n    ]\n  }\n}\n",
        ),
        Some("{\"hooks\":{}}"),
    ] {
        let machine = Machine::with(&[("buddy", "1.0.0")]);
        machine.write(
            ".config/checkpointd/config.yml",
            format!("{EVERY_STOP}{flat}"),
        );
        if let Some(text) = original {
            machine.write(".buddy/hooks.json", text);
        }
        let before = machine.tree();
        machine.ok(&["init", "--agent", "buddy"]);
        let once = machine.tree();
        let entries = machine.read(".buddy/hooks.json");
        assert!(entries.contains("checkpointd-hook buddy Stop"), "{entries}");
        machine.ok(&["init", "--agent", "buddy"]);
        assert_eq!(machine.tree(), once);
        machine.ok(&["uninstall", "--agent", "buddy"]);
        assert_eq!(machine.tree(), before);
    }
}

#[test]
fn each_form_of_an_answer_and_a_file_of_calls() {
    for (form, at) in [
        ("block", "/decision"),
        ("deny", "/decision"),
        ("nested", "/hookSpecificOutput/decision"),
    ] {
        let machine = Machine::with(&[("buddy", "1.0.0")]);
        let config = format!("{EVERY_STOP}{BUDDY}    reply: {form}\n");
        machine.write(".config/checkpointd/config.yml", config);
        machine.ok(&["init", "--agent", "buddy"]);
        let daemon = RunningDaemon::start(&machine);
        let calls = [
            ("UserPromptSubmit", json!({ "message": "change it" })),
            ("Stop", json!({ "stop_hook_active": false })),
        ];
        let calls = calls.map(|(event, fields)| (event, payload(&machine, &fields)));
        let replies = calls
            .each_ref()
            .map(|(event, payload)| machine.hook(".buddy/settings.json", event, payload));
        let reply: Value = serde_json::from_str(&replies[1]).expect("a checkpoint");
        let word = if form == "nested" { "block" } else { form };
        assert_eq!(reply.pointer(at), Some(&json!(word)), "{reply}");
        drop(daemon);
        let line = |(event, payload): &(_, _)| {
            json!({ "agent": "buddy", "event": event, "payload": payload }).to_string()
        };
        let file = machine.write("calls.ndjson", calls.each_ref().map(line).join("\n"));
        let file = file.to_string_lossy();
        let played = machine.json(&["replay", "--file", &file, "--json"]);
        assert_eq!(played["problems"], json!([]));
        assert_eq!(played["decisions"][0]["agent"], "buddy", "{played}");
        assert_eq!(played["decisions"][0]["turn"], 1, "{played}");
    }
}

/// VS Code, CodeBuddy and others also run the hooks of Claude Code's settings.
#[test]
fn a_call_of_claude_codes_hooks_by_a_described_agent_is_journaled_once_and_as_its_own() {
    let machine = Machine::with(&[("buddy", "1.0.0"), ("claude", "2.1.330 (Claude Code)")]);
    machine.write(
        ".config/checkpointd/config.yml",
        format!("{EVERY_STOP}{BUDDY}"),
    );
    machine.write(".buddy/settings.json", "{}");
    machine.ok(&["init"]);
    let _daemon = RunningDaemon::start(&machine);
    let payload = payload(
        &machine,
        &json!({ "hook_event_name": "UserPromptSubmit", "message": "go" }),
    );
    for file in [".buddy/settings.json", ".claude/settings.json"] {
        let command = machine.hook_command(file, "UserPromptSubmit");
        let mut shell = machine.command("sh", &["-c", &command]);
        shell
            .env("BUDDY_SESSION", "1")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "60000");
        let output = run(&mut shell, payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let sessions = machine.rows(&["sessions", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["agent"], "buddy");
    assert_eq!(events(&machine).len(), 1);
    // Without the variable the call is Claude Code's own.
    machine.hook(
        ".claude/settings.json",
        "SessionStart",
        &json!({ "session_id": "two", "cwd": "/", "hook_event_name": "SessionStart" }),
    );
    let sessions = machine.rows(&["sessions", "--json", "--agent", "claude"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
}

#[test]
fn what_no_description_names_is_refused() {
    let machine = Machine::with(&[("buddy", "1.0.0")]);
    machine.write(".config/checkpointd/config.yml", BUDDY);
    let output = machine.run(&["init", "--agent", "body"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("buddy") && said.contains("claude"), "{said}");
    machine.write(
        ".config/checkpointd/config.yml",
        "agents: [{name: codex, settings: ~/a}]\n",
    );
    let output = machine.run(&["config", "check"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("`codex` is an agent that checkpointd knows already"),
        "{said}"
    );
}

#[test]
fn its_transcripts_are_looked_back_at() {
    let machine = Machine::with(&[("buddy", "1.0.0")]);
    machine.write(".config/checkpointd/config.yml", BUDDY);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/fixtures/claude/h-normal.transcripts");
    let transcript = fs::read_dir(recorded)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let transcript = transcript
        .into_iter()
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let text = fs::read(transcript.expect("a transcript")).expect("reads");
    machine.write(".buddy/sessions/p/one.jsonl", text);
    let answer = machine.json(&["lookback", "--json", "--agent", "buddy"]);
    assert!(
        answer.to_string().contains("\"agent\":\"buddy\""),
        "{answer}"
    );
}
