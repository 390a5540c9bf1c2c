//! `stats`: what checkpoints did, counted by events only (spec LOOK-9).

use serde_json::{Value, json};

use super::{ask, lines, own, recorded};
use crate::support::Home;
use crate::support::daemon::Daemon;

#[track_caller]
fn stats(home: &Home, more: &[&str]) -> Value {
    let mut answer = lines(home, &[&["stats", "--since", "2026-11-01"], more].concat());
    answer.pop().expect("one object")
}

#[test]
fn figures_agree_with_the_decisions_that_they_count() {
    let mut daemon = Daemon::at(own());
    let all = stats(&daemon.home, &[]);
    let decisions = lines(&daemon.home, &["audit"]);
    let sent = |row: &&Value| row["verdict"] == "inject";
    let actions = |row: &Value| row["actions"].as_array().map_or(0, Vec::len);
    assert_eq!(all["stops"], decisions.len());
    assert_eq!(all["sent"], decisions.iter().filter(sent).count());
    let asked: usize = decisions.iter().filter(sent).map(actions).sum();
    assert_eq!(all["actions"], asked);
    assert_eq!(all["wrong"], 0);

    // Claude was asked for tests and ran them; Gemini was asked and did not.
    let of = |agent: &str| stats(&daemon.home, &["--agent", agent]);
    let figures = ["sent", "demands", "met", "checks", "rounds", "ms"];
    let pick = |all: Value| figures.map(|figure| all[figure].as_u64().expect("a number"));
    assert_eq!(pick(of("claude")), [1, 1, 1, 1, 3, 35_000]);
    assert_eq!(pick(of("gemini")), [1, 1, 0, 0, 1, 20_000]);
    // Codex got a message that asks for nothing.
    assert_eq!(pick(of("codex"))[..3], [1, 0, 0]);

    let (_, text, _) = ask(&daemon.home, &["stats", "--since", "2026-11-01"]);
    assert!(
        text.contains("      3  checkpoints, at 6 stops\n"),
        "{text}"
    );
    assert!(
        text.contains("      1  check run because a checkpoint asked"),
        "{text}"
    );

    // A mark counts, and the answer is the same without a daemon.
    ask(&daemon.home, &["wrong", "13"]);
    let marked = stats(&daemon.home, &[]);
    assert_eq!(marked["wrong"], 1);
    daemon.kill();
    assert_eq!(stats(&daemon.home, &[]), marked);
}

#[test]
fn filters_leave_out_and_imports_do_not_count() {
    let home = own();
    let elsewhere = stats(&home, &["--project", "/home/ada/elsewhere"]);
    assert_eq!(
        (&elsewhere["stops"], &elsewhere["sent"]),
        (&json!(0), &json!(0))
    );
    let later = lines(&home, &["stats", "--since", "2026-11-21"]);
    assert_eq!(later[0]["stops"], 0);
    // Nothing was sent because of another person's events.
    assert_eq!(stats(&recorded(), &[])["stops"], 0);
    let (code, text, error) = ask(&recorded(), &["stats", "--since", "2026-11-01"]);
    assert_eq!(code, 0, "{error}");
    assert!(
        text.starts_with("No checkpoint was sent since 2026-11-01"),
        "{text}"
    );
}
