//! Payloads with many levels: they count as what they are, and every answer can be read (spec JRNL-26).

use journal::payload::{LEVELS_MAX, levels};
use serde_json::{Value, json};

use super::store::checkpointd;
use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::{Home, run, wait_until};

/// Levels of the answer around a payload, at the most.
const AROUND: usize = 8;

/// A payload of Claude Code of that many levels.
fn payload(hook: &str, deep: usize) -> String {
    let response = format!("{}{}", "[".repeat(deep - 1), "]".repeat(deep - 1));
    format!(
        r#"{{"session_id":"deep","hook_event_name":"{hook}","tool_name":"Bash","tool_use_id":"{deep}","tool_input":{{"command":"ls"}},"tool_response":{response}}}"#
    )
}

fn lines(daemon: &Daemon, arguments: &[&str]) -> Vec<Value> {
    let lines = daemon.ask(arguments);
    for line in &lines {
        assert!(levels(line) <= LEVELS_MAX + AROUND, "{arguments:?}");
    }
    lines
}

#[test]
fn a_payload_of_many_levels_is_an_event_and_is_shown_as_text() {
    let daemon = Daemon::with(&format!(
        "{EVERY_STOP}journal: {{payload_bytes_max: 1MB}}\n"
    ));
    let depths = [
        2, 99, 100, 101, 117, 118, 124, 126, 127, 128, 130, 1_000, 100_000,
    ];
    daemon.hook(
        &["claude"],
        br#"{"session_id":"deep","hook_event_name":"UserPromptSubmit","prompt":"go"}"#,
    );
    for deep in depths {
        daemon.hook(&["claude"], payload("PostToolUse", deep).as_bytes());
    }
    daemon.hook(&["claude"], payload("Stop", 126).as_bytes());
    wait_until(|| !daemon.ask(&["audit", "--json"]).is_empty());

    let exported = lines(&daemon, &["journal", "export"]);
    let calls: Vec<_> = exported
        .iter()
        .filter(|line| line["kind"] == "tool_finished")
        .map(|line| line["payload"].clone())
        .collect();
    let expected = depths.map(|deep| match payload("PostToolUse", deep) {
        text if deep > LEVELS_MAX => json!({ "text": text }),
        text => serde_json::from_str(&text).expect("JSON"),
    });
    assert_eq!(calls, expected);

    for arguments in [
        &["journal", "tail", "--json"][..],
        &["explain", "--json"],
        &["timeline", "deep", "--json"],
        &["journal", "state", "deep", "--json"],
        &["journal", "sql", "select payload from events", "--json"],
    ] {
        assert!(!lines(&daemon, arguments).is_empty(), "{arguments:?}");
    }
    let (status, body) = daemon
        .http("GET", "/v1/events?payloads=true", &[], b"")
        .expect("an answer");
    let answered: Vec<Value> = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 200);
    for (event, exported) in answered.iter().zip(&exported) {
        assert!(
            event["payload"] == exported["payload"],
            "{event}\n{exported}"
        );
    }
}

#[test]
fn an_import_brings_every_payload_back() {
    let mut daemon = Daemon::with(EVERY_STOP);
    for text in [
        payload("PostToolUse", 3),
        payload("PostToolUse", 120),
        r#"{"text":"no payload of an agent"}"#.into(),
    ] {
        daemon.hook(&["claude"], text.as_bytes());
    }
    daemon.kill();
    let (code, export, error) = checkpointd(&daemon.home, &["journal", "export"]);
    assert_eq!(code, 0, "{error}");
    assert!(
        export.contains(r#""payload":{"text":"{\"text\""#),
        "{export}"
    );

    let other = Home::new();
    let mut import = other.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["journal", "import", "--json"],
    );
    let imported = run(&mut import, export.as_bytes());
    assert_eq!(imported.status.code(), Some(0));
    assert_eq!(checkpointd(&other, &["journal", "export"]).1, export);
}
