//! `GET /metrics`: off unless switched on, right when it is, and without a word of anybody's.

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::wait_until;

fn scrape(daemon: &Daemon) -> (u16, String) {
    daemon.http("GET", "/metrics", &[], b"").expect("an answer")
}

/// Returns the figure of a line.
fn figure(text: &str, name: &str) -> Option<f64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Returns how many events were counted.
fn events(text: &str) -> f64 {
    let lines = text
        .lines()
        .filter(|line| line.starts_with("checkpointd_events_total{"));
    lines
        .map(|line| {
            line.rsplit(' ')
                .next()
                .expect("a figure")
                .parse::<f64>()
                .expect("a figure")
        })
        .sum()
}

#[test]
fn figures_are_kept_back_unless_they_are_switched_on() {
    let daemon = Daemon::with(EVERY_STOP);
    let (status, body) = scrape(&daemon);
    assert!(
        status == 404 && body.contains("metrics: {enabled: true}"),
        "{status} {body}"
    );
}

/// Calls hooks, one of them with garbage. Returns how many calls were taken.
fn tell(daemon: &Daemon) -> f64 {
    let calls = recorded("claude/h-stop-block-once");
    let calls: Vec<_> = calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .collect();
    calls.iter().for_each(|call| drop(play(daemon, call)));
    let secret = json!({ "session_id": "s-1", "hook_event_name": "PreToolUse", "cwd": "/home/me/zebra", "tool_name": "Bash",
        "tool_use_id": "t1", "tool_input": { "command": "quagga --now" } });
    daemon.hook(&["claude", "PreToolUse"], secret.to_string().as_bytes());
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        json!({ "session_id": "s-1", "hook_event_name": "UserPromptSubmit",
        "cwd": "/home/me/zebra", "prompt": "the okapi" })
        .to_string()
        .as_bytes(),
    );
    assert_eq!(daemon.hook(&["claude"], b"garbage"), "");
    calls.len() as f64 + 2.0
}

fn check_figures(text: &str, hook_calls: f64) {
    for (name, expected) in [
        (
            r#"checkpointd_decisions_total{agent="claude",verdict="inject",reason="generic"}"#,
            1.0,
        ),
        (
            r#"checkpointd_decisions_total{agent="claude",verdict="pass",reason="block_budget"}"#,
            1.0,
        ),
        (
            r#"checkpointd_deliveries_total{agent="claude",outcome="confirmed"}"#,
            1.0,
        ),
        (
            r#"checkpointd_events_total{kind="agent_stopped",agent="claude"}"#,
            2.0,
        ),
        ("checkpointd_decision_seconds_count", 2.0),
        ("checkpointd_payloads_rejected_total", 1.0),
        ("checkpointd_sessions", 2.0),
        ("checkpointd_turns_running", 1.0),
        ("checkpointd_spool_files", 0.0),
    ] {
        assert_eq!(figure(text, name), Some(expected), "{name}: {text}");
    }
    let hooks = figure(text, "checkpointd_hook_seconds_count").expect("a figure")
        + figure(text, "checkpointd_hooks_later_total").expect("a figure");
    assert_eq!(hooks, hook_calls, "{text}");
    for name in [
        "checkpointd_journal_store_bytes",
        "checkpointd_journal_intake_bytes",
        "checkpointd_memory_resident_bytes",
    ] {
        assert!(
            figure(text, name).is_some_and(|bytes| bytes > 0.0),
            "{name}: {text}"
        );
    }
}

/// Figures say what happened since the start, and contain nothing of what was said.
#[test]
fn figures_count_from_the_start_and_contain_no_content() {
    let mut daemon = Daemon::with(&format!("{EVERY_STOP}metrics: {{enabled: true}}\n"));
    let hook_calls = tell(&daemon);

    // What is acknowledged is counted a moment later.
    let all = daemon.ask(&["journal", "stats", "--json"])[0]["events"]
        .as_f64()
        .expect("a figure");
    wait_until(|| events(&scrape(&daemon).1) >= all);
    let (status, text) = scrape(&daemon);
    assert!(status == 200 && text.ends_with("# EOF\n"), "{text}");
    assert_eq!(
        events(&text),
        all,
        "this daemon journaled all there is: {text}"
    );
    check_figures(&text, hook_calls);
    for word in ["quagga", "okapi", "zebra", "s-1", "garbage", "Bash"] {
        assert!(!text.contains(word), "{word}: {text}");
    }

    // Counters begin with the daemon; what the journal holds stays a gauge.
    daemon.kill();
    daemon.start();
    let (_, text) = scrape(&daemon);
    assert_eq!(
        figure(
            &text,
            r#"checkpointd_events_total{kind="agent_stopped",agent="claude"}"#
        ),
        None
    );
    assert_eq!(figure(&text, "checkpointd_sessions"), Some(2.0), "{text}");
}
