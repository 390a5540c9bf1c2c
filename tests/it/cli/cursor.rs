//! Cursor, which was not run: hook calls made from its documentation, through the installed commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::machine::{Machine, RunningDaemon};
use crate::support::run;

const EVERY_STOP: &str = "min_turn: 0s\nunchanged: message\n";
const HOOKS: &str = ".cursor/hooks.json";

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Returns a machine with Cursor and its hooks, and what its user had before.
fn set_up(hooks: Option<&str>) -> (Machine, Tree) {
    let machine = Machine::with(&[("cursor-agent", "2026.09.10")]);
    machine.write(".config/checkpointd/config.yml", EVERY_STOP);
    machine.write(".cursor/settings.txt", "");
    if let Some(text) = hooks {
        machine.write(HOOKS, text);
    }
    let before = machine.tree();
    machine.ok(&["init", "--agent", "cursor"]);
    (machine, before)
}

/// Returns the documented calls, at work in the machine's home.
fn documented(machine: &Machine) -> Vec<Value> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures/cursor/documented.ndjson");
    let text = fs::read_to_string(file).expect("recorded");
    let home = machine.home().display().to_string();
    text.replace("/home/user/project", &home)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn call(machine: &Machine, call: &Value) -> String {
    let event = call["event"].as_str().expect("an event");
    machine.hook(HOOKS, event, &call["payload"])
}

#[test]
fn a_turn_gets_one_follow_up_and_its_second_stop_passes() {
    let (machine, before) = set_up(None);
    let daemon = RunningDaemon::start(&machine);
    let mut asked = None;
    for mut told in documented(&machine) {
        // What comes back is what was sent.
        if let Some(asked) = &asked
            && told["event"] == "beforeSubmitPrompt"
        {
            told["payload"]["prompt"] = Value::clone(asked);
        }
        let reply = call(&machine, &told);
        if told["hook_replied"].is_null() {
            assert_eq!(reply, "", "{told}");
            continue;
        }
        let reply: Value = serde_json::from_str(&reply).expect("a checkpoint");
        assert_eq!(reply.as_object().map(serde_json::Map::len), Some(1));
        let text = reply["followup_message"].as_str().expect("a text");
        assert!(text.starts_with("[checkpointd] "), "{text}");
        asked = Some(reply["followup_message"].clone());
    }
    let decisions = machine.rows(&["audit", "--json", "--agent", "cursor"]);
    let made = decisions.iter().map(|row| {
        [&row["verdict"], &row["reason"], &row["delivery"]].map(|word| word.as_str().unwrap_or(""))
    });
    assert_eq!(
        made.collect::<Vec<_>>(),
        [
            ["inject", "generic", "confirmed"],
            ["pass", "block_budget", "none"]
        ],
        "{decisions:?}"
    );
    let sessions = machine.rows(&["sessions", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    machine.ok(&["doctor", "--fire", "cursor"]);
    machine.ok(&["replay", "--verify"]);
    drop(daemon);
    machine.ok(&["uninstall", "--agent", "cursor"]);
    assert_eq!(machine.tree(), before);
}

#[test]
fn nothing_is_sent_that_cursor_would_not_submit() {
    let (machine, _) = set_up(None);
    let _daemon = RunningDaemon::start(&machine);
    for (status, count, is_sent) in [
        ("aborted", 0, false),
        ("error", 0, false),
        ("completed", 5, false),
        ("completed", 4, true),
    ] {
        let mut calls = documented(&machine);
        calls.truncate(7);
        for told in &mut calls {
            let session = format!("{status}-{count}");
            told["payload"]["conversation_id"] = session.into();
            if told["event"] == "sessionStart" {
                continue;
            }
            if told["event"] == "stop" {
                told["payload"]["status"] = status.into();
                told["payload"]["loop_count"] = count.into();
            }
            let reply = call(&machine, told);
            assert_eq!(
                reply.is_empty(),
                told["event"] != "stop" || !is_sent,
                "{told}"
            );
        }
    }
}

#[test]
fn it_has_hooks_only_if_it_is_named() {
    let machine = Machine::with(&[("cursor", "3.7.21"), ("claude", "2.1.330 (Claude Code)")]);
    machine.write(".cursor/settings.txt", "");
    let said = machine.ok(&["init"]);
    assert!(
        !machine.home().join(HOOKS).exists() && !said.contains("Cursor"),
        "{said}"
    );
    let answer = machine.run(&["doctor", "--json"]).stdout;
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let checks = answer["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["name"] == "cursor.hooks");
    assert_eq!(check.expect("a check")["status"], "skip", "{answer}");
}

#[test]
fn a_file_of_its_users_comes_back_byte_for_byte() {
    for text in [
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"say done\", \"loop_limit\": 2 }\n    ]\n  }\n}\n",
        "{\"version\":1,\"hooks\":{}}",
        "",
    ] {
        let (machine, before) = set_up(Some(text));
        let with: Value = serde_json::from_str(&machine.read(HOOKS)).expect("JSON");
        assert_eq!(with["version"], 1, "{with}");
        machine.ok(&["uninstall", "--agent", "cursor"]);
        assert_eq!(machine.tree(), before);
    }
}

/// Its calls of the hooks of Claude Code's settings say what its own say.
#[test]
fn its_calls_in_claude_codes_name_are_ignored() {
    let machine = Machine::with(&[("claude", "2.1.330 (Claude Code)")]);
    machine.ok(&["init"]);
    let _daemon = RunningDaemon::start(&machine);
    let file = ".claude/settings.json";
    let command = machine.hook_command(file, "UserPromptSubmit");
    let told = json!({
        "session_id": "one", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "go",
        "cursor_version": "3.7.21",
    });
    let mut shell = machine.command("sh", &["-c", &command]);
    shell.env("CURSOR_VERSION", "3.7.21");
    let output = run(&mut shell, told.to_string().as_bytes());
    assert_eq!((output.status.code(), output.stdout), (Some(0), Vec::new()));
    assert_eq!(machine.rows(&["sessions", "--json"]), [Value::Null; 0]);
}
