//! Routes of the socket and of the page that answer with JSON.

use std::fs;

use serde_json::json;

use super::{Transcript, data};
use crate::support::daemon::Daemon;
use crate::support::http::unchunked;
use crate::support::page::Page;
use crate::support::wait_until;

const SESSION: &str = "3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d";

/// Starts a daemon on a recorded journal; what comes later stays out, as no order is certain there.
fn daemon(asked: &Transcript) -> Daemon {
    let config =
        "journal: {compact: off, retention: {payloads: forever}}\nphase: {folder: /nowhere}\n";
    fs::write(asked.home.path().join("config.yml"), config).expect("writes");
    let daemon = Daemon::at(asked.home.clone());
    wait_until(|| get(&daemon, "/v1/status").contains("\"ready\":true"));
    daemon
}

fn get(daemon: &Daemon, path: &str) -> String {
    daemon.http("GET", path, &[], b"").expect("an answer").1
}

/// The first 26 events of the recording: the session of Claude Code, of which nothing is open.
fn recording() -> String {
    let text = fs::read_to_string(data("audit.ndjson")).expect("a recording");
    let lines: Vec<&str> = text.lines().take(26).collect();
    lines.join("\n")
}

#[test]
fn the_socket_answers() {
    let mut asked = Transcript::of(&recording());
    let daemon = daemon(&asked);
    let hook = json!({ "session_id": SESSION, "hook_event_name": "PreToolUse" }).to_string();
    let line = json!({ "agent": "claude", "at": "2026-11-20T10:00:00Z", "payload": {
        "session_id": "5e55", "hook_event_name": "UserPromptSubmit", "prompt": "go on" } });
    let line = line.to_string();
    let requests: [(&str, String, &str); 29] = [
        ("GET", "/healthz".into(), ""),
        ("GET", "/v1/status".into(), ""),
        ("GET", "/v1/sessions".into(), ""),
        ("GET", format!("/v1/sessions/{SESSION}"), ""),
        ("GET", "/v1/sessions/3f0a".into(), ""),
        ("GET", "/v1/sessions/none".into(), ""),
        ("GET", "/v1/decisions".into(), ""),
        ("GET", "/v1/decisions?verdict=inject&limit=1".into(), ""),
        ("GET", "/v1/decisions?verdict=odd".into(), ""),
        ("GET", "/v1/events?last=3".into(), ""),
        ("GET", "/v1/events?agent=claude&kind=decided".into(), ""),
        ("GET", "/v1/now".into(), ""),
        ("GET", "/v1/absent".into(), ""),
        ("POST", "/v1/query".into(), r#"{"query":"sessions"}"#),
        ("POST", "/v1/query".into(), r#"{"query":"overview"}"#),
        ("POST", "/v1/query".into(), r#"{"query":"stats"}"#),
        ("POST", "/v1/query".into(), r#"{"query":"event","seq":13}"#),
        ("POST", "/v1/query".into(), r#"{"query":"odd"}"#),
        ("POST", "/v1/phase/list".into(), "{}"),
        ("POST", "/v1/progress/validate".into(), "{}"),
        ("POST", "/v1/hooks/claude".into(), &hook),
        ("POST", "/v1/hooks/nobody".into(), &hook),
        ("POST", "/v1/append".into(), &line),
        (
            "POST",
            format!("/sessions/{SESSION}/mute"),
            r#"{"for":"2h"}"#,
        ),
        ("POST", format!("/sessions/{SESSION}/unmute"), ""),
        ("POST", format!("/sessions/{SESSION}/clear"), ""),
        ("POST", "/sessions/none/clear".into(), ""),
        ("POST", "/v1/journal/compact".into(), r#"{"dry_run":true}"#),
        ("GET", "/v1/events?from=27&payloads=true".into(), ""),
    ];
    for (method, path, body) in requests {
        let (status, answer) = daemon
            .http(
                method,
                &path,
                &[("Content-Type", "application/json")],
                body.as_bytes(),
            )
            .expect("an answer");
        let answer = unchunked(&answer).unwrap_or(answer);
        asked.add(&format!("{method} {path} {body} -> {status}"), &answer);
    }
    asked.check("socket.txt");
}

/// Commands that ask the daemon, where it runs.
#[test]
fn commands_get_the_answers_of_the_daemon() {
    let mut asked = Transcript::of(&recording());
    let daemon = daemon(&asked);
    for question in [
        "daemon status",
        "status",
        "sessions",
        "audit",
        "stats --since 2026-11-01",
        "explain",
        "timeline last",
        "journal state last --at 9",
        "replay --verify",
        "journal stats",
        "journal verify",
        "mute last",
        "mute --once last",
        "mute --off last",
        "restart last",
        "web --stop",
    ] {
        let arguments: Vec<&str> = question.split(' ').chain(["--json"]).collect();
        let mut command = daemon.home.command(super::CHECKPOINTD, &arguments);
        command.env("TZ", "UTC");
        asked.ask_by(command, &arguments);
    }
    asked.check("with-daemon.txt");
}

#[test]
fn the_page_answers() {
    let mut asked = Transcript::of(&recording());
    let daemon = daemon(&asked);
    let page = Page::open(&daemon);
    let key = page.enter();
    for path in [
        "/api/now",
        "/api/sessions/3f0a/timeline",
        "/api/sessions/none/timeline",
        "/api/events/13",
        "/api/events/1300",
        "/api/decisions",
        "/api/decisions?verdict=inject",
        "/api/decisions/13",
        "/api/decisions/14",
        "/api/config",
        "/api/absent",
    ] {
        let answer = page.get(path, &[("Authorization", &key)]);
        asked.add(&format!("GET {path} -> {}", answer.status), &answer.text());
    }
    asked.check("page.txt");
}
