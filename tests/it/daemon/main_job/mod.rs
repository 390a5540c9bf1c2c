//! The main job with the real client, the real daemon and recorded hook calls.

mod contents;
mod demands;
mod files;
mod leaving;
mod open;
mod planted;
mod record;
mod record_fleet;
mod run;
mod start;
mod turns;
mod unchanged;
mod whose;
mod words;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{Home, run, wait_until};

fn decisions(daemon: &Daemon) -> Vec<(String, String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let line = |line: &Value| {
        (
            word(&line["agent"]),
            word(&line["reason"]),
            word(&line["delivery"]),
        )
    };
    daemon.ask(&["audit", "--json"]).iter().map(line).collect()
}

#[test]
fn each_agent_is_blocked_once_in_its_dialect_and_then_let_go() {
    let daemon = Daemon::with(EVERY_STOP);
    for (scenario, dialect) in [
        ("claude/h-stop-block-once", json!({ "decision": "block" })),
        ("codex/h-stop-block-once", json!({ "decision": "block" })),
        ("gemini/h-stop-deny-once", json!({ "decision": "deny" })),
    ] {
        let mut replies = Vec::new();
        for mut call in recorded(scenario) {
            // The recorded feedback was another program's; ours comes back in its place.
            if let Some(reason) = replies
                .first()
                .and_then(|reply: &Value| reply["reason"].as_str())
                && call["event"] == "BeforeAgent"
            {
                call["payload"]["prompt"] = json!(reason);
            }
            let printed = play(&daemon, &call);
            if !printed.is_empty() {
                replies.push(serde_json::from_str::<Value>(&printed).expect("one JSON object"));
            }
        }
        assert_eq!(replies.len(), 1, "{scenario}");
        assert_eq!(replies[0]["decision"], dialect["decision"], "{scenario}");
        let reason = replies[0]["reason"].as_str().expect("a text");
        assert!(reason.starts_with("[checkpointd] "), "{reason}");
        assert_eq!(
            replies[0].as_object().expect("an object").len(),
            2,
            "no field that a host does not know"
        );
    }
    let expected = [
        ("claude", "generic", "confirmed"),
        ("claude", "block_budget", "none"),
        ("codex", "generic", "confirmed"),
        ("codex", "block_budget", "none"),
        ("gemini", "generic", "confirmed"),
        ("gemini", "block_budget", "none"),
    ];
    let expected: Vec<_> = expected
        .map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()))
        .into();
    assert_eq!(decisions(&daemon), expected);
    daemon.verify();
}

fn stop(daemon: &mut Daemon) {
    let stopped = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]),
        b"",
    );
    assert_eq!(
        stopped.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&stopped.stderr)
    );
    daemon
        .child
        .take()
        .expect("it ran")
        .wait()
        .expect("it is gone");
}

#[test]
fn read_commands_say_the_same_with_the_daemon_and_without() {
    // Deliveries that wait for their confirmation must not be settled between the two rounds.
    let mut daemon = Daemon::with(&format!("{EVERY_STOP}confirm_timeout: 1h\n"));
    for scenario in ["claude/t-main", "codex/t-main", "gemini/h-resume"] {
        recorded(scenario)
            .iter()
            .for_each(|call| drop(play(&daemon, call)));
    }
    let questions: [&[&str]; 8] = [
        &["sessions", "--json"],
        &["audit", "--json"],
        &["explain", "594047f2", "--json"],
        &["journal", "state", "594047f2", "--json"],
        &["journal", "state", "594047f2", "--at", "12", "--json"],
        &["timeline", "594047f2", "--json"],
        &["journal", "tail", "-n", "500", "--json"],
        &["journal", "export"],
    ];
    // What one run leaves open, the next settles as it starts.
    stop(&mut daemon);
    daemon.start();
    wait_until(|| {
        let sessions = daemon.ask(&["sessions", "--json"]);
        let is_over =
            |session: &Value| session["ended"] == false || session["delivering"].is_null();
        sessions.iter().all(is_over)
    });
    stop(&mut daemon);
    let without: Vec<_> = questions
        .iter()
        .map(|question| daemon.ask(question))
        .collect();
    assert!(without.iter().all(|lines| !lines.is_empty()));
    daemon.start();
    let started = |line: &Value| line["kind"] == "daemon_started";
    for (question, without) in questions.iter().zip(without) {
        let mut with = daemon.ask(question);
        let new = with.iter().filter(|line| started(line)).count()
            > without.iter().filter(|line| started(line)).count();
        if new {
            with.pop();
        }
        assert_eq!(with, without, "{question:?}");
    }
}

#[test]
fn two_identical_calls_are_one_event_and_one_of_them_is_answered() {
    let daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("claude/h-stop-block-once");
    let calls: Vec<_> = calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .collect();
    for call in &calls {
        let (agent, event) = (
            call["agent"].as_str().expect("a word"),
            call["event"].as_str().expect("a word"),
        );
        let payload = call["payload"].to_string();
        // As the host does it: both at the same time.
        let replies: Vec<String> = std::thread::scope(|scope| {
            let twins: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| daemon.hook(&[agent, event], payload.as_bytes())))
                .collect();
            twins
                .into_iter()
                .map(|twin| twin.join().expect("no panic"))
                .collect()
        });
        assert!(
            replies.iter().filter(|reply| !reply.is_empty()).count() <= 1,
            "{event}: {replies:?}"
        );
    }
    let events = daemon.ask(&["timeline", "last", "--json"]);
    let hooks = events
        .iter()
        .filter(|line| line.get("host").is_some())
        .count();
    assert_eq!(hooks, calls.len(), "each call once");
    assert_eq!(
        daemon
            .ask(&["audit", "--verdict", "inject", "--json"])
            .len(),
        1
    );
    daemon.verify();
}

#[test]
fn bad_payloads_are_kept_counted_and_answered_with_a_reason() {
    let daemon = Daemon::with(EVERY_STOP);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!(
        r#"{{"session_id":"{}","x":"{}"}}"#,
        "a".repeat(20),
        "x".repeat(50_000_000)
    );
    let unknown = r#"{"session_id":"abc","hook_event_name":"BrandNewEvent","x":1}"#;
    for (agent, payload) in [
        ("claude", &b""[..]),
        ("claude", b"garbage"),
        ("claude", b"[1,2]"),
        ("claude", b"{\"session_id\":\"\xff\xfe\"}"),
        ("claude", br#"{"hook_event_name":"Stop"}"#),
        ("gemini", br#"{"session_id":"abc"}"#),
        ("codex", deep.as_bytes()),
        ("claude", huge.as_bytes()),
        (
            "clippy",
            br#"{"session_id":"abc","hook_event_name":"Stop"}"#,
        ),
        ("claude", unknown.as_bytes()),
    ] {
        assert_eq!(daemon.hook(&[agent], payload), "", "{agent}");
    }
    // On a slow machine 50 MB take longer to read than the client waits, and arrive through the spool.
    let kinds = || daemon.ask(&["journal", "stats", "--json"])[0]["kinds"].clone();
    let began = Instant::now();
    while (&kinds()["payload_rejected"], &kinds()["other_hook"]) != (&json!(9), &json!(1)) {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", kinds());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(daemon.ask(&["status", "--json"])[0]["rejected"], json!(9));
    for (path, body, expected) in [
        (
            "/v1/hooks/claude",
            &b"garbage"[..],
            "the payload is not JSON",
        ),
        ("/v1/hooks/claude", b"", "the payload is empty"),
        ("/v1/hooks/nobody", b"{}", "unknown agent"),
    ] {
        let (status, body) = daemon.http("POST", path, &[], body).expect("an answer");
        assert!(status == 400 && body.contains(expected), "{status} {body}");
    }
    let (status, _) = daemon
        .http("POST", "/v1/hooks/claude", &[], unknown.as_bytes())
        .expect("an answer");
    assert_eq!(status, 200);
    assert_eq!(
        daemon.home.spooled().len(),
        0,
        "a payload that was refused is not tried again"
    );
    daemon.verify();
}

#[test]
fn a_changed_configuration_holds_at_once_and_a_wrong_one_changes_nothing() {
    let daemon = Daemon::with("min_turn: 1h\nheadless: always\n");
    let calls = recorded("claude/h-parallel");
    let path = daemon.home.path().join("config.yml");
    let until = |wanted: &str, field: fn(&Value) -> bool| {
        let began = Instant::now();
        while !field(&daemon.ask(&["status", "--json"])[0]) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{wanted} never holds"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::fs::write(&path, "min_trun: 0s\n").expect("writes");
    until("the complaint", |status| {
        status["daemon"]["config_error"]
            .as_str()
            .is_some_and(|text| text.contains("min_turn"))
    });
    calls
        .iter()
        .for_each(|call| assert_eq!(play(&daemon, call), ""));
    assert_eq!(
        daemon.ask(&["audit", "--json"])[0]["reason"],
        json!("below_threshold")
    );
    std::fs::write(&path, EVERY_STOP).expect("writes");
    until("the new file", |status| {
        status["daemon"]["config_error"].is_null()
    });
    let replies: Vec<_> = recorded("claude/h-normal")
        .iter()
        .map(|call| play(&daemon, call))
        .collect();
    assert!(
        replies.iter().any(|reply| reply.contains("block")),
        "{replies:?}"
    );
}

#[test]
fn a_client_of_another_version_is_served() {
    let daemon = Daemon::with(EVERY_STOP);
    let body = br#"{"session_id":"abc","hook_event_name":"UserPromptSubmit","prompt":"hi"}"#;
    let headers = [
        ("Checkpointd-Client", "99.0.0"),
        ("Checkpointd-Future", "x"),
    ];
    let (status, _) = daemon
        .http("POST", "/v1/hooks/claude", &headers, body)
        .expect("an answer");
    assert_eq!(
        (status, daemon.ask(&["sessions", "--json"]).len()),
        (200, 1)
    );
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = Daemon::with(EVERY_STOP);
    play(&daemon, &recorded("claude/h-normal")[0]);
    let mode =
        |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let mut folders = vec!["run", "spool", "journal", "logs"]
        .into_iter()
        .map(|name| daemon.home.path().join(name))
        .collect::<Vec<_>>();
    assert_eq!(mode(&daemon.home.path().join("run/sock")), 0o600);
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display())
            }
        }
    }
}
