//! `docs/openapi.yaml` has the routes of the daemon, and real answers have the forms that it describes. The dashboard of
//! Grafana asks for metrics that exist.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::{read, shape::Shapes, top};
use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::http;
use std::os::unix::net::UnixStream;

fn description() -> Value {
    serde_saphyr::from_str(&read("docs/openapi.yaml")).expect("YAML")
}

/// Returns the routes that the sources of the daemon set up, such as `GET /healthz`.
fn routes() -> BTreeSet<String> {
    let entries = fs::read_dir(top().join("src/daemon/http")).expect("a folder");
    let mut found = BTreeSet::new();
    for entry in entries {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("text");
        let code: String = text.split_whitespace().collect();
        for route in code.split(".route(").skip(1) {
            let parts = route
                .strip_prefix('"')
                .and_then(|route| route.split_once("\",web::"))
                .and_then(|(path, rest)| Some((path, rest.split_once('(')?.0)));
            let (path, method) = parts.unwrap_or_else(|| panic!("not understood: {route}"));
            let method = method.to_uppercase();
            // One route may stand for several, such as `{word:mute|unmute}`.
            let (before, words) = path.split_once("{word:").unwrap_or((path, "}"));
            let (words, after) = words.split_once('}').expect("an end");
            let paths = words
                .split('|')
                .map(|word| format!("{method} {before}{word}{after}"));
            found.extend(paths);
        }
    }
    found
}

fn operations(description: &Value) -> BTreeSet<String> {
    let paths = description["paths"].as_object().expect("paths");
    let all = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods").keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    all.collect()
}

#[test]
fn it_has_the_routes_of_the_daemon() {
    assert_eq!(operations(&description()), routes());
}

/// Requests whose bodies are the same in every run.
const PLAIN: [(&str, &str, &str); 31] = [
    ("GET /healthz", "/healthz", ""),
    ("GET /metrics", "/metrics", ""),
    ("GET /v1/status", "/v1/status", ""),
    ("GET /v1/sessions", "/v1/sessions", ""),
    ("GET /v1/sessions/{id}", "/v1/sessions/last", ""),
    ("GET /v1/sessions/{id}", "/v1/sessions/none", ""),
    ("GET /v1/decisions", "/v1/decisions", ""),
    ("GET /v1/decisions", "/v1/decisions?verdict=odd", ""),
    ("GET /v1/events", "/v1/events", ""),
    ("GET /v1/events", "/v1/events?last=9&payloads=true", ""),
    ("GET /v1/now", "/v1/now?all=true", ""),
    ("GET /v1/status-line", "/v1/status-line", ""),
    ("GET /v1/status-line", "/v1/status-line?session=last", ""),
    ("POST /v1/query", "/v1/query", r#"{"query":"overview"}"#),
    ("POST /v1/query", "/v1/query", r#"{"query":"sessions"}"#),
    ("POST /v1/query", "/v1/query", r#"{"query":"odd"}"#),
    ("POST /v1/journal/backup", "/v1/journal/backup", ""),
    (
        "POST /v1/journal/compact",
        "/v1/journal/compact",
        r#"{"dry_run":true}"#,
    ),
    ("POST /v1/phase/{word}", "/v1/phase/list", "{}"),
    ("POST /v1/phase/{word}", "/v1/phase/show", r#"{"id":"x"}"#),
    ("POST /v1/progress/{word}", "/v1/progress/validate", "{}"),
    ("POST /v1/web/open", "/v1/web/open", "{}"),
    ("POST /v1/web/waits", "/v1/web/waits", r#"{"token":"x"}"#),
    ("POST /v1/web/close", "/v1/web/close", ""),
    (
        "POST /sessions/{id}/mute",
        "/sessions/last/mute",
        r#"{"for":"2h"}"#,
    ),
    (
        "POST /sessions/{id}/mute",
        "/sessions/last/mute",
        r#"{"for":"x"}"#,
    ),
    ("POST /sessions/{id}/unmute", "/sessions/last/unmute", ""),
    ("POST /sessions/{id}/clear", "/sessions/last/clear", ""),
    ("POST /sessions/{id}/clear", "/sessions/none/clear", ""),
    ("POST /sessions/{id}/pane", "/sessions/last/pane", ""),
    (
        "POST /sessions/{id}/agent-restart",
        "/sessions/last/agent-restart",
        "",
    ),
];

/// Requests that reach every operation: operation, path, body.
fn requests(decision: u64) -> Vec<(&'static str, String, String)> {
    let hook =
        json!({ "session_id": "5e55", "hook_event_name": "UserPromptSubmit", "prompt": "x" });
    let line = json!({ "agent": "claude", "payload": hook });
    let mut all: Vec<_> = PLAIN
        .map(|(operation, path, body)| (operation, path.to_owned(), body.to_owned()))
        .into();
    let more = [
        (
            "POST /v1/hooks/{agent}",
            "/v1/hooks/claude",
            hook.to_string(),
        ),
        (
            "POST /v1/hooks/{agent}",
            "/v1/hooks/nobody",
            hook.to_string(),
        ),
        ("POST /v1/append", "/v1/append", format!("{line}\n{{}}\n")),
        (
            "POST /sessions/{id}/wrong",
            "/sessions/last/wrong",
            json!({ "decision": decision, "note": "x" }).to_string(),
        ),
        ("POST /v1/shutdown", "/v1/shutdown", String::new()),
    ];
    all.extend(more.map(|(operation, path, body)| (operation, path.to_owned(), body)));
    all
}

/// Returns what an answer has that its description does not say.
fn differences(description: &Value, operation: &str, answer: &http::Answer) -> Vec<String> {
    let (method, path) = operation.split_once(' ').expect("two words");
    let described = &description["paths"][path][method.to_lowercase()]["responses"];
    let described = &described[answer.status.to_string()];
    if described.is_null() {
        return vec![format!("status {} is not described", answer.status)];
    }
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    if kind == "application/octet-stream" {
        return Vec::new();
    }
    let text = answer.text();
    if text.is_empty() {
        return Vec::new();
    }
    let content = &described["content"][kind];
    if content.is_null() {
        return vec![format!("content of {kind} is not described")];
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let values: Vec<Value> = match kind {
        "application/json" => vec![parse(&text)],
        "application/x-ndjson" => text.lines().map(parse).collect(),
        _ => vec![Value::String(text)],
    };
    let shapes = Shapes { root: description };
    let all = values
        .iter()
        .flat_map(|value| shapes.differences(&content["schema"], value));
    all.collect()
}

fn with_history() -> Daemon {
    let daemon = Daemon::with(&format!("{EVERY_STOP}metrics: {{enabled: true}}\n"));
    for call in recorded("claude/h-stop-block-once") {
        play(&daemon, &call);
    }
    daemon
}

#[test]
fn answers_have_the_forms_that_it_describes() {
    let description = description();
    let daemon = with_history();
    let decisions = daemon.ask(&["audit", "--verdict", "inject", "--json"]);
    let decision = decisions[0]["seq"].as_u64().expect("a number");
    let mut asked = BTreeSet::new();
    let mut wrong = Vec::new();
    for (operation, path, body) in requests(decision) {
        let (method, _) = operation.split_once(' ').expect("two words");
        let stream = UnixStream::connect(daemon.home.path().join("run/sock")).expect("connects");
        let headers = [("Host", "x"), ("Content-Type", "application/json")];
        let answer = http::ask(stream, method, &path, &headers, body.as_bytes());
        let answer = answer.unwrap_or_else(|| panic!("{operation}: no answer"));
        let found = differences(&description, operation, &answer);
        wrong.extend(found.iter().map(|it| format!("{method} {path}: {it}")));
        asked.insert(operation.to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(asked, operations(&description), "each is asked");
}

#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let daemon = with_history();
    let (_, text) = daemon.http("GET", "/metrics", &[], b"").expect("an answer");
    let text = http::unchunked(&text).unwrap_or(text);
    let dashboard: Value = serde_json::from_str(&read("docs/grafana.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("a list"));
    let mut names = BTreeSet::new();
    for target in targets {
        let query = target["expr"].as_str().expect("a query");
        let words = query.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.extend(
            words
                .filter(|word| word.starts_with("checkpointd_"))
                .map(str::to_owned),
        );
    }
    let served = |name: &String| {
        let starts = |line: &str| {
            let end = line.find(['{', ' ']).unwrap_or(line.len());
            &line[..end] == name
        };
        // A family without any count yet is only announced.
        let family = name.trim_end_matches("_total");
        text.lines().any(starts) || text.contains(&format!("# TYPE {family} "))
    };
    let absent: Vec<_> = names.iter().filter(|name| !served(name)).collect();
    assert_eq!(absent, Vec::<&String>::new(), "{text}");
    assert!(names.len() > 12, "{names:?}");
}
