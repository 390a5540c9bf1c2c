//! The facts of a document, counted from the journal.

use journal::{Envelope, Event, Host, Stream, ToolCall, ToolKind};
use uuid::Uuid;

use super::at;
use crate::progress::{Facts, facts};

fn call(
    kind: ToolKind,
    command: Option<&str>,
    path: Option<&str>,
    is_error: bool,
    output: &str,
) -> Event {
    Event::ToolFinished {
        host: Host::default(),
        call: ToolCall {
            tool: "T".into(),
            kind,
            command: command.map(str::to_owned),
            paths: path.map(str::to_owned).into_iter().collect(),
            is_error,
            output: output.into(),
            finished: true,
            ..ToolCall::default()
        },
    }
}

fn prompt() -> Event {
    Event::PromptSubmitted {
        host: Host::default(),
        origin: journal::PromptOrigin::User,
        text: String::new(),
        digest: 0,
    }
}

/// A turn of work, a night, and a turn that only reads.
fn two_turns() -> Facts {
    let stream = Stream::of_native(journal::Agent::Claude, "s");
    let mut seq = 0;
    let mut event = |second: i64, event: Event| {
        seq += 1;
        Envelope {
            seq,
            stream: stream.clone(),
            at: at(second),
            recorded_at: at(second),
            id: Uuid::nil(),
            late: false,
            event,
            origin: None,
        }
    };
    let stop = Event::AgentStopped {
        host: Host::default(),
        reentry: false,
        background_tasks: 0,
        can_reply: true,
        prompt_digest: None,
        last_message: None,
    };
    let events = [
        event(0, prompt()),
        event(
            10,
            call(ToolKind::Write, None, Some("/p/new.rs"), false, ""),
        ),
        event(
            20,
            call(
                ToolKind::Shell,
                Some("cargo test"),
                None,
                true,
                "noise\n1 failed\n",
            ),
        ),
        event(
            30,
            call(ToolKind::Edit, None, Some("src/old.rs"), false, ""),
        ),
        event(
            40,
            call(ToolKind::Shell, Some("cargo test -q"), None, false, ""),
        ),
        event(
            50,
            call(
                ToolKind::Edit,
                None,
                Some("/elsewhere/x"),
                true,
                "no such file",
            ),
        ),
        event(60, stop),
        event(5_000, prompt()),
        event(
            9_000,
            call(ToolKind::Read, None, Some("/p/new.rs"), false, ""),
        ),
    ];
    facts(&events, "/p")
}

#[test]
fn calls_and_time_are_counted() {
    let facts = two_turns();
    assert_eq!(
        (
            facts.turns,
            facts.tools,
            facts.shell,
            facts.changes,
            facts.reads,
            facts.failed
        ),
        (2, 6, 2, 3, 1, 2)
    );
    assert_eq!(
        facts.worked_ms,
        60_000 + 600_000,
        "not the night between, and a long pause is cut"
    );
}

#[test]
fn files_and_failures_are_listed() {
    let facts = two_turns();
    let files: Vec<_> = facts
        .files
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.writes,
                file.edits,
                file.written_first,
            )
        })
        .collect();
    assert_eq!(files, [("new.rs", 1, 0, true), ("src/old.rs", 0, 1, false)]);
    let failures: Vec<_> = facts
        .failures
        .iter()
        .map(|failed| {
            (
                failed.what.as_str(),
                failed.said.as_str(),
                failed.resolved.is_some(),
            )
        })
        .collect();
    assert_eq!(
        failures,
        [
            ("cargo test", "1 failed", true),
            ("/elsewhere/x", "no such file", false)
        ]
    );
    let how = facts.failures[0].resolved.clone().expect("resolved");
    assert!(
        how.starts_with("`cargo test -q` succeeded")
            && how.ends_with("after changes to src/old.rs"),
        "{how}"
    );
}
