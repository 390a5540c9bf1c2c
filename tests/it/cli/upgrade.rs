//! Another version of the program beside the daemon's.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::store::checkpointd;
use crate::support::daemon::Daemon;
use crate::support::{Act, Home, http, run, serve};

/// Calls hooks one after the other until it is told to end. Returns how many.
fn call_hooks(home: &Home, session: &str, end: &AtomicBool) -> usize {
    let mut calls = 0;
    while !end.load(Ordering::Relaxed) || calls == 0 {
        let payload = json!({ "session_id": session, "hook_event_name": "UserPromptSubmit",
            "prompt": format!("{session} {calls}") });
        let mut client = home.client(&["claude"]);
        // As agents call it: a daemon that is away costs them next to nothing.
        client.env("CHECKPOINTD_PLAIN_WAIT_MS", "250");
        let output = run(&mut client, payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        calls += 1;
    }
    calls
}

#[test]
fn a_restart_loses_no_hook_call() {
    let daemon = Daemon::with("");
    let home = daemon.home.clone();
    let end = AtomicBool::new(false);
    let sessions = ["one", "two"];
    let expected: BTreeMap<&str, usize> = thread::scope(|scope| {
        let callers = sessions.map(|name| {
            let (home, end) = (&home, &end);
            (name, scope.spawn(move || call_hooks(home, name, end)))
        });
        for _ in 0..3 {
            let (code, out, error) = checkpointd(&home, &["daemon", "restart"]);
            assert_eq!(code, 0, "{out}{error}");
            assert!(out.contains(", before: "), "{out}");
        }
        end.store(true, Ordering::Relaxed);
        let calls = callers.map(|(name, caller)| (name, caller.join().expect("ends")));
        calls.into()
    });
    // What went to the spool last is imported by a start.
    let (code, out, error) = checkpointd(&home, &["daemon", "restart"]);
    assert_eq!(code, 0, "{out}{error}");
    let prompts = daemon.ask(&[
        "journal",
        "tail",
        "--kind",
        "prompt_submitted",
        "--json",
        "-n",
        "100000",
    ]);
    for (session, calls) in expected {
        let of = prompts
            .iter()
            .filter(|line| line["native_session"] == *session);
        let mut texts: Vec<&str> = of.filter_map(|line| line["text"].as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), calls, "{session}");
    }
    daemon.verify();
    checkpointd(&home, &["daemon", "stop"]);
}

#[test]
fn restart_starts_a_daemon_where_none_runs() {
    let home = Home::new();
    let (code, out, error) = checkpointd(&home, &["daemon", "restart"]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(
        out.starts_with("checkpointd ") && !out.contains("before"),
        "{out}"
    );
    checkpointd(&home, &["daemon", "stop"]);
}

#[test]
fn a_daemon_of_another_version_is_named_with_what_to_do() {
    let home = Home::new();
    let answer = json!({ "ok": true, "version": "9.8.7", "pid": 1, "uptime_ms": 1 }).to_string();
    let _requests = serve(&home.socket(), move |_| Act::Reply(http(200, &answer)));
    let (_, out, error) = checkpointd(&home, &["doctor", "--json"]);
    let checks = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let text: Vec<String> = checks.map(|check| check.to_string()).collect();
    let said = text.iter().find(|check| check.contains("9.8.7"));
    let said = said.unwrap_or_else(|| panic!("{text:?} {error}"));
    assert!(said.contains("checkpointd daemon restart"), "{said}");
}
