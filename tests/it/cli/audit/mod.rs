//! Looking into the past: `audit`, `explain`, `timeline`, `state`, `tail`, `sessions`, on a recorded
//! journal (`tests/data/audit.ndjson`): Claude Code was asked for tests and ran them, Gemini CLI was asked and did not,
//! Codex CLI changed documentation only.

mod follow;
mod list;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::{Home, run, wait};

mod answers;
mod previews;
mod screens;
mod stats;
mod wrong;

const CHECKPOINTD: &str = env!("CARGO_BIN_EXE_checkpointd");

/// A home with the recorded journal.
pub(super) fn recorded() -> Home {
    home_with(&recording())
}

/// A home with the recorded journal as one's own.
pub(super) fn own() -> Home {
    let home = Home::new();
    let output = run(
        &mut command(&home, &["journal", "import", "--own"]),
        recording().as_bytes(),
    );
    assert!(output.status.success(), "{output:?}");
    home
}

fn recording() -> String {
    std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/audit.ndjson"
    ))
    .expect("a recording")
}

fn home_with(recording: &str) -> Home {
    let home = Home::new();
    let output = run(
        &mut command(&home, &["journal", "import"]),
        recording.as_bytes(),
    );
    assert!(output.status.success(), "{output:?}");
    home
}

/// A command in the zone and the home folder of the recording.
fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(CHECKPOINTD, arguments);
    command
        .env("TZ", "UTC")
        .env("HOME", "/home/ada")
        .env("COLUMNS", "140");
    command
}

/// Returns exit code, standard output and standard error.
fn ask(home: &Home, arguments: &[&str]) -> (i32, String, String) {
    let output = run(&mut command(home, arguments), b"");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("no signal"),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Returns the lines of an answer in JSON.
#[track_caller]
fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (code, out, error) = ask(home, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {error}");
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[track_caller]
fn seqs(home: &Home, arguments: &[&str]) -> Vec<u64> {
    lines(home, arguments)
        .iter()
        .map(|line| line["seq"].as_u64().expect("a number"))
        .collect()
}

#[test]
fn an_explanation_says_when_things_happened_and_how_the_demand_ended() {
    let home = recorded();
    let claude = lines(&home, &["explain", "13"]).remove(0);
    let done =
        json!({ "purpose": "tests", "command": "pytest -q", "at": "2026-11-20T09:01:44.000000Z" });
    assert_eq!(
        claude["demand"],
        json!({ "end": "met", "left": [], "done_by": [done] })
    );
    let times: Vec<_> = claude["times"].as_array().expect("times").iter().collect();
    let kinds: Vec<_> = times
        .iter()
        .map(|time| time["kind"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        kinds,
        [
            "agent_stopped",
            "decided",
            "delivery_attempted",
            "delivery_confirmed"
        ]
    );
    assert_eq!(
        (&times[0]["after_us"], &times[1]["after_us"]),
        (&json!(1_400), &json!(10_700))
    );
    assert!(
        claude["evidence"]["steps"]
            .as_array()
            .is_some_and(|steps| steps.len() == 4),
        "{}",
        claude["evidence"]
    );
    let gemini = &lines(&home, &["explain", "31"])[0];
    assert_eq!(
        gemini["decision"]["seq"], 33,
        "a stop stands for its decision"
    );
    assert_eq!(
        (&gemini["demand"]["end"], &gemini["demand"]["left"]),
        (&json!("left"), &gemini["decision"]["actions"])
    );
    assert_eq!(lines(&home, &["explain", "45"])[0]["demand"], Value::Null);
}

#[test]
fn a_state_can_be_had_at_any_point_and_compared() {
    let home = recorded();
    let state = |point: &str| lines(&home, &["journal", "state", "3f0a", "--at", point]).remove(0);
    assert_eq!(state("9")["seq"], 9);
    assert_eq!(
        (&state("9")["turn"], &state("26")["turn"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(state("2026-11-20T09:00:20Z")["seq"], 7);
    assert_eq!(state("2026-11-20 09:00:20")["seq"], 7);
    // A day is taken at its end.
    assert_eq!(
        state("2026-11-20"),
        lines(&home, &["journal", "state", "3f0a"])[0]
    );
    let diff = lines(
        &home,
        &["journal", "state", "3f0a", "--diff", "9", "2026-11-20"],
    )
    .remove(0);
    assert_eq!(
        (&diff["from"]["seq"], &diff["to"]["seq"]),
        (&json!(9), &json!(26))
    );
    let (was, now) = (state("9"), state("2026-11-20"));
    let changes = diff["changes"].as_array().expect("changes");
    for change in changes {
        let path = format!(
            "/{}",
            change["field"].as_str().expect("a field").replace('.', "/")
        );
        let (was, now) = (
            was.pointer(&path).unwrap_or(&Value::Null),
            now.pointer(&path).unwrap_or(&Value::Null),
        );
        assert_ne!(was, now, "{path}");
        if !was.is_array() {
            assert_eq!((was, now), (&change["was"], &change["now"]), "{path}");
        }
    }
    let fields: Vec<_> = changes
        .iter()
        .map(|change| change["field"].as_str().expect("a field"))
        .collect();
    assert!(
        fields.contains(&"turn")
            && fields.contains(&"counts.passed")
            && !fields.contains(&"project"),
        "{fields:?}"
    );
    assert_eq!(
        lines(&home, &["journal", "state", "3f0a", "--diff", "9", "9"])[0]["changes"],
        json!([])
    );
    let (code, _, error) = ask(&home, &["journal", "state", "3f0a", "--at", "whenever"]);
    assert!(code == 2 && error.contains("sequence number"), "{error}");
    let (_, out, _) = ask(&home, &["journal", "state", "3f0a", "--at", "2026-11-19"]);
    assert_eq!(out, "The session had not begun then.\n");
}

#[test]
fn a_daemon_and_the_journal_itself_give_the_same_answers() {
    let mut daemon = Daemon::at(recorded());
    let questions: [&[&str]; 13] = [
        &["audit"],
        &[
            "audit",
            "--project",
            "/home/ada/inventory",
            "--text",
            "pytest",
            "--json",
        ],
        &["audit", "--csv"],
        &["stats", "--since", "2026-11-01"],
        &["stats", "--since", "2026-11-01", "--json"],
        &["explain", "13"],
        &["explain", "last", "--json"],
        &["timeline", "3f0a"],
        &["timeline", "3f0a", "--turn", "1", "--json"],
        &["journal", "state", "3f0a", "--at", "20"],
        &["journal", "state", "3f0a", "--diff", "9", "20"],
        &[
            "journal",
            "tail",
            "-n",
            "5",
            "--project",
            "/home/ada/handbook",
        ],
        &["sessions", "--json"],
    ];
    let answers = |home: &Home| questions.map(|question| ask(home, question));
    let with = answers(&daemon.home);
    daemon.kill();
    for ((question, with), without) in questions.iter().zip(with).zip(answers(&daemon.home)) {
        assert_eq!(with.0, 0, "{question:?}: {}", with.2);
        assert_eq!(with, without, "{question:?}");
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_said_to_be_and_what_to_do() {
    let questions: [&[&str]; 5] = [
        &["stats"],
        &["explain"],
        &["timeline", "last"],
        &["journal", "state", "last", "--diff", "1", "2"],
        &["journal", "tail"],
    ];
    let empty = Home::new();
    let broken = recorded();
    let intake = broken.path().join("journal/intake");
    for segment in std::fs::read_dir(&intake).expect("listed") {
        let path = segment.expect("one").path();
        let mut bytes = std::fs::read(&path).expect("readable");
        // The version of the first frame.
        bytes[4] = 200;
        std::fs::write(path, bytes).expect("writes");
    }
    for question in questions {
        for home in [&empty, &broken] {
            let (code, out, error) = ask(home, question);
            assert_eq!((code, out.as_str()), (3, ""), "{question:?}: {error}");
            assert!(
                error.contains("hint: ") || error.contains("upgrade"),
                "{question:?}: {error}"
            );
        }
    }
}
