//! `wrong`: a person marks a demand, with and without a daemon, and every view shows it (spec DECIDE-21).

use serde_json::Value;

use super::{ask, command, own, recorded};
use crate::support::daemon::Daemon;
use crate::support::{Home, run};

/// Returns the line of a rule in the totals.
fn totals_of(home: &Home, rule: &str) -> Value {
    let (code, out, err) = ask(home, &["stats", "--since", "2026-11-01", "--json"]);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&out).expect("JSON");
    let rules = summary["rules"].as_array().expect("a list");
    let found = rules.iter().find(|totals| totals["rule"] == rule);
    found
        .unwrap_or_else(|| panic!("no {rule} in {summary}"))
        .clone()
}

fn marked(home: &Home, decision: &str) -> Value {
    let (_, out, _) = ask(home, &["explain", decision, "--json"]);
    let explained: Value = serde_json::from_str(&out).expect("JSON");
    explained["marked_wrong"].clone()
}

#[test]
fn a_mark_is_journaled_shown_and_taken_back() {
    let mut daemon = Daemon::at(own());
    let (_, out, _) = ask(&daemon.home, &["audit", "--verdict", "inject", "--json"]);
    let decisions: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let with_actions = |row: &&Value| !row["actions"].as_array().expect("a list").is_empty();
    let last = decisions.iter().rfind(with_actions).expect("a demand");
    let (seq, rule) = (
        last["seq"].to_string(),
        last["actions"][0]["category"].as_str().expect("a rule"),
    );
    let before = totals_of(&daemon.home, rule);
    assert_eq!(before["wrong"], 0);

    let note = "only a comment\u{1b}[2J changed, PGPASSWORD=hunter2x";
    let (code, out, err) = ask(
        &daemon.home,
        &["wrong", &seq, "--item", "1", "--note", note],
    );
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains(&format!("decision {seq} ")) && out.contains("demand 1 marked wrong"),
        "{out}"
    );
    assert_eq!(marked(&daemon.home, &seq)[0]["item"], 1);
    let (_, out, _) = ask(&daemon.home, &["explain", &seq]);
    assert!(out.contains("marked  wrong: only a comment"), "{out}");
    assert!(
        !out.contains('\u{1b}'),
        "a note is printed as text: {out:?}"
    );
    assert_eq!(totals_of(&daemon.home, rule)["wrong"], 1);
    let (_, out, _) = ask(&daemon.home, &["stats", "--since", "2026-11-01"]);
    assert!(out.contains("MARKED WRONG"), "{out}");
    let share = "1  marked wrong by you: 25.0 in 100 turns\n";
    assert!(out.contains(share), "{out}");
    // With a session it is the last checkpoint of that one; with neither, and from elsewhere, one has to be chosen.
    let newest = decisions.last().expect("a checkpoint");
    let session = newest["session"].as_str().expect("an id");
    let (_, out, _) = ask(&daemon.home, &["wrong", session]);
    assert!(
        out.contains(&format!("decision {} ", newest["seq"])),
        "{out}"
    );
    ask(&daemon.home, &["wrong", session, "--undo"]);
    let (_, out, _) = ask(&daemon.home, &["wrong", session, "--undo"]);
    assert!(out.ends_with(": nothing was marked wrong\n"), "{out}");
    let (code, _, error) = ask(&daemon.home, &["wrong"]);
    assert!(code == 2 && error.contains("name one"), "{error}");

    // The journal keeps it, and the command works without a daemon.
    daemon.kill();
    ask(
        &daemon.home,
        &["wrong", &seq, "--note", "PGPASSWORD=hunter2x too"],
    );
    let (_, out, _) = ask(&daemon.home, &["journal", "export"]);
    assert!(out.contains("only a comment") && out.contains("secret] too"));
    assert!(!out.contains("hunter2x"), "notes are redacted");
    ask(&daemon.home, &["wrong", &seq, "--undo"]);
    ask(&daemon.home, &["wrong", &seq, "--item", "1"]);
    assert_eq!(totals_of(&daemon.home, rule)["wrong"], 1);
    let (code, out, err) = ask(&daemon.home, &["wrong", &seq, "--undo"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("no longer marked wrong"), "{out}");
    assert_eq!(marked(&daemon.home, &seq), Value::Array(Vec::new()));
    assert_eq!(totals_of(&daemon.home, rule), before);
    let (code, out, err) = ask(&daemon.home, &["replay", "--verify"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn what_was_not_demanded_cannot_be_marked() {
    let mut daemon = Daemon::at(recorded());
    refuses_what_was_not_demanded(&daemon.home);
    daemon.kill();
    refuses_what_was_not_demanded(&daemon.home);
    let empty = Home::new();
    let output = run(&mut command(&empty, &["wrong"]), b"");
    assert_eq!(output.status.code(), Some(3), "there is no journal yet");
}

fn refuses_what_was_not_demanded(home: &Home) {
    let (_, out, _) = ask(home, &["audit", "--json"]);
    let decisions: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |verdict: &str| {
        let found = decisions.iter().find(|row| row["verdict"] == verdict);
        found.expect("both verdicts")["seq"].to_string()
    };
    for (arguments, expected) in [
        (vec!["wrong".to_owned(), of("pass")], "let the stop pass"),
        (
            vec!["wrong".to_owned(), of("inject"), "--item=99".to_owned()],
            "there is no number 99",
        ),
        (vec!["wrong".to_owned(), "999999".to_owned()], "999999"),
    ] {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let (code, out, err) = ask(home, &arguments);
        assert!(
            code == 1 && err.contains(expected),
            "{arguments:?}: {out}{err}"
        );
    }
}
