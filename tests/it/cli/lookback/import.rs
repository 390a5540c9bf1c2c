//! The import of transcripts into the journal, and taking it out again.

use serde_json::{Value, json};

use super::Did::{Edited, Ran};
use super::{User, days_ago};
use crate::support::run;

#[test]
fn an_import_is_a_journal_of_the_past_and_can_be_repeated() {
    let user = User::new();
    user.put_recorded();
    let project = user.project();
    let began = days_ago(2);
    let secret = format!("{}-{}", "glpat", "q7Rk2ZpX9q7Rk2ZpX9qW");
    let with_secret = format!("curl -H 'PRIVATE-TOKEN: {secret}' https://example.org");
    user.put_session(
        &project,
        "dddd",
        began,
        &[&[Edited("src/lib.rs")], &[Ran(&with_secret)]],
    );
    let import = ["lookback", "--since", "2020-01-01", "--import", "--json"];
    let first = user.json(&import);
    assert_eq!(first["turns"], 37);
    assert_eq!(first["problems"], json!([]));
    let exported = user.well(&["journal", "export"]);
    assert!(!exported.contains(&secret));
    // A second time, nothing changes.
    let second = user.json(&import);
    assert_eq!(
        (&second["turns"], &second["events"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(second["known"], 37);
    assert_eq!(user.well(&["journal", "export"]), exported);
    // Everything works on it.
    user.well(&["journal", "verify"]);
    user.well(&["replay", "--verify"]);
    let audit = user.well(&["audit", "--session", "dddd", "--json"]);
    let decisions: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(decisions.len(), 2);
    assert_eq!(
        (&decisions[0]["verdict"], &decisions[0]["delivery"]),
        (&json!("inject"), &json!("expired"))
    );
    assert!(user.well(&["timeline", "dddd"]).contains("imported"));
    // It grows: only the new turn comes in.
    user.put_session(
        &project,
        "dddd",
        began,
        &[
            &[Edited("src/lib.rs")],
            &[Ran(&with_secret)],
            &[Edited("src/a.rs")],
        ],
    );
    assert_eq!(user.json(&import)["turns"], 1);
    user.well(&["replay", "--verify"]);
}

/// As when a session is resumed into a new file.
#[test]
fn a_session_in_several_files_is_one_session() {
    let user = User::new();
    let project = user.project();
    let place = user.folder(".claude/projects/-shop");
    for part in 0..8 {
        let turns = [
            [Edited("src/lib.rs")],
            [Ran("cargo test")],
            [Edited("src/a.rs")],
        ];
        let turns: Vec<&[_]> = turns.iter().map(|turn| &turn[..]).collect();
        user.put_session(&project, "eeee", days_ago(9 - part), &turns);
        let part = place.join(format!("part-{part}.jsonl"));
        std::fs::rename(place.join("eeee.jsonl"), part).expect("renamed");
    }
    let imported = user.json(&["lookback", "--import", "--json"]);
    let counts = ["sessions", "turns", "earlier"].map(|count| imported[count].as_u64());
    assert_eq!(counts, [Some(1), Some(24), Some(0)], "{imported}");
    user.well(&["replay", "--verify"]);
}

#[test]
fn forgetting_takes_the_import_out_and_leaves_the_rest() {
    let user = User::new();
    let project = user.project();
    user.put_session(
        &project,
        "eeee",
        days_ago(2),
        &[&[Edited("src/lib.rs")], &[Ran("ls")]],
    );
    // Something of another session is journaled before and after.
    let append = |session: &str| {
        let line = json!({ "agent": "claude", "payload": { "session_id": session, "hook_event_name": "UserPromptSubmit",
            "cwd": "/p", "prompt": "hello" } });
        let mut command = user
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]);
        let done = run(&mut command, line.to_string().as_bytes());
        assert!(done.status.success(), "{done:?}");
    };
    append("before");
    assert_eq!(user.json(&["lookback", "--import", "--json"])["turns"], 2);
    append("after");
    let count = |kind: &str| {
        let out = user.well(&["journal", "export"]);
        out.lines().filter(|line| line.contains(kind)).count()
    };
    assert_eq!((count("\"decided\""), count("\"hello\"")), (2, 2));
    let forgotten = user.json(&["journal", "forget", "--imported", "--json"]);
    assert_eq!(forgotten["sessions"], 1);
    assert_eq!(
        (count("\"decided\""), count("\"hello\""), count("eeee")),
        (0, 2, 0)
    );
    user.well(&["journal", "verify"]);
    user.well(&["replay", "--verify"]);
    let sessions = user.well(&["sessions"]);
    assert_eq!(sessions.matches("hello").count(), 2, "{sessions}");
    assert!(!sessions.contains("task"), "{sessions}");
    // Nothing is left to take out, and it can come in again.
    let again = user.json(&["journal", "forget", "--imported", "--json"]);
    assert_eq!(again["events"], 0);
    assert_eq!(user.json(&["lookback", "--import", "--json"])["turns"], 2);
    user.well(&["journal", "verify"]);
}

#[test]
fn a_session_that_hooks_reported_is_left_alone() {
    let user = User::new();
    let project = user.project();
    user.put_session(&project, "ffff", days_ago(2), &[&[Edited("src/lib.rs")]]);
    let line = json!({ "agent": "claude", "payload": { "session_id": "ffff", "hook_event_name": "UserPromptSubmit",
        "cwd": "/p", "prompt": "hello" } });
    let mut command = user
        .home
        .command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]);
    assert!(
        run(&mut command, line.to_string().as_bytes())
            .status
            .success()
    );
    let imported = user.json(&["lookback", "--import", "--json"]);
    assert_eq!(
        (&imported["turns"], &imported["live"]),
        (&json!(0), &json!(1))
    );
}
