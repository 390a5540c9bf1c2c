//! What leaves the machine.

use journal::{Agent, Envelope, Event, Host, Identity, Payload, Stream, Timestamp, codec};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Does, draft, place};
use crate::ops::fleet::levels::Level;
use crate::ops::fleet::send::{Cut, Sender};

const CANARY: &str = "canary in /home/ada";

/// An event of every kind that a machine has: a variant's number followed by zeros decodes as one with empty fields.
fn one_of_each() -> Vec<Event> {
    let decode = |number: u8| {
        let mut bytes = [0; 512];
        bytes[0] = number;
        codec::unpack::<Event>(&bytes)
    };
    let own = |event: &Event| !matches!(event.kind(), "run_received" | "withheld");
    (0..=250).map_while(decode).filter(own).collect()
}

fn envelope(seq: u64, event: Event) -> Envelope {
    let at = Timestamp::from_micros(1_000_000 * seq as i64);
    Envelope {
        seq,
        stream: Stream::of_native(Agent::Gemini, CANARY),
        at,
        recorded_at: at,
        id: Uuid::from_u128(seq.into()),
        late: false,
        event,
        origin: None,
    }
}

/// Values of a field's type that only the user may read.
fn secrets() -> Vec<Value> {
    let call = json!({"id": CANARY, "tool": CANARY, "kind": "shell", "command": CANARY, "paths": [CANARY], "is_error": false,
        "refused": false, "finished": true, "output": CANARY, "at": "2026-11-20T09:00:00Z", "duration_ms": 1});
    let place = json!({"cwd": CANARY, "transcript": CANARY, "env": [[CANARY, CANARY]]});
    let host = json!({"hook": CANARY, "turn": CANARY, "subagent": CANARY, "place": place});
    vec![
        CANARY.into(),
        json!([CANARY]),
        json!([[CANARY, CANARY]]),
        json!([[CANARY, 1]]),
        json!([{"path": CANARY, "hash": null}]),
        json!({"known": [{"path": CANARY, "hash": null}]}),
        json!({"unknown": CANARY}),
        json!([{"text": CANARY, "category": CANARY, "step": "observe"}]),
        json!([{"id": CANARY, "subject": CANARY, "status": "pending"}]),
        json!([call]),
        call,
        place,
        host,
        json!({"known_files": [CANARY], "packages": [CANARY], "files": {"empty": [CANARY]},
            "workspace": {"tasks": [{"folder": CANARY, "runner": CANARY, "name": CANARY, "text": CANARY}]}}),
    ]
}

/// Returns the line with a secret in every place that can hold one, and the number of them.
fn filled(line: &Value) -> (Value, usize) {
    const ADDRESS: [&str; 10] = [
        "seq",
        "at",
        "recorded_at",
        "session",
        "native_session",
        "agent",
        "id",
        "late",
        "kind",
        "payload",
    ];
    let mut whole = line.clone();
    let mut count = 0;
    let mut open: Vec<String> = whole
        .as_object()
        .expect("an object")
        .keys()
        .filter(|name| !ADDRESS.contains(&name.as_str()))
        .map(|name| format!("/{name}"))
        .collect();
    while let Some(path) = open.pop() {
        let found = secrets().into_iter().find(|secret| {
            let mut tried = whole.clone();
            *tried.pointer_mut(&path).expect("a field") = secret.clone();
            let back = codec::from_json(tried.clone());
            // A field that is not known is skipped: then nothing holds the secret.
            back.is_ok_and(|(event, payload)| {
                let kept = codec::to_export(&event, &payload);
                kept.pointer(&path)
                    .is_some_and(|kept| kept.to_string().contains("canary"))
            })
        });
        let field = whole.pointer_mut(&path).expect("a field");
        if let Some(secret) = found {
            *field = secret;
            count += 1;
        } else if let Some(members) = field.as_object() {
            open.extend(members.keys().map(|name| format!("{path}/{name}")));
        }
    }
    (whole, count)
}

/// The two ways to read a line agree.
fn assert_read_as_text(line: &Value) {
    let Some((event, payload, withheld)) = journal::line::read(&line.to_string()) else {
        // What has texts of JSON is read the other way.
        let kinds = ["policy_adopted", "progress_written", "progress_validated"];
        let has_text = kinds.iter().any(|kind| line["kind"] == *kind);
        assert!(has_text || line.to_string().contains("canary"), "{line}");
        return;
    };
    let mut own = line.clone();
    let named = own.as_object_mut().expect("an object").remove("withheld");
    assert_eq!(codec::from_json(own), Ok((event, payload)), "{line}");
    assert_eq!(json!(withheld), named.unwrap_or_else(|| json!([])));
}

#[test]
fn no_secret_of_any_field_leaves_below_all() {
    let place = place();
    let identity = place.journal.identity().expect("an identity");
    let payload = Payload::Text(json!({ "prompt": CANARY }).to_string());
    let mut secrets = 0;
    for event in one_of_each() {
        let line = codec::to_export(&envelope(7, event), &payload);
        let (line, count) = filled(&line);
        secrets += count;
        let (full, payload) = codec::from_json(line).expect("its own line");
        assert_read_as_text(&codec::to_export(&full, &payload));
        for level in [Level::Decisions, Level::Skeleton] {
            let cut = Cut {
                identity: &identity,
                level,
            };
            let Some(sent) = cut.line(&full, &payload) else {
                continue;
            };
            assert!(!sent.to_string().contains("canary"), "{level:?}: {sent}");
            // It can be read by a collector, and names what it lacks.
            let withheld = sent["withheld"].as_array().expect("a list").len();
            assert_read_as_text(&sent);
            let mut sent = sent;
            sent.as_object_mut().expect("an object").remove("withheld");
            let (back, _) = codec::from_json(sent).expect("a line");
            assert_eq!(back.event.kind(), full.event.kind());
            assert!(count == 0 || withheld > 0, "{}", full.event.kind());
            assert_ne!(back.id, full.id);
        }
        let all = Cut {
            identity: &identity,
            level: Level::All,
        };
        let sent = all.line(&full, &payload).expect("all kinds");
        assert_eq!(sent, codec::to_export(&full, &payload));
    }
    assert!(secrets > 60, "the test fills {secrets} fields");
}

#[test]
fn paths_are_equal_where_they_were_equal_and_cannot_be_compared_elsewhere() {
    let (one, two) = (place(), place());
    let cwd = |identity: &Identity, cwd: &str| {
        let host = Host {
            hook: "Stop".into(),
            place: Some(journal::Place {
                cwd: cwd.into(),
                ..journal::Place::default()
            }),
            ..Host::default()
        };
        let source = "startup".to_owned();
        let cut = Cut {
            identity,
            level: Level::Decisions,
        };
        let event = envelope(1, Event::SessionStarted { host, source });
        let line = cut.line(&event, &Payload::None).expect("sent");
        assert_eq!(line["source"], "startup");
        assert_eq!(line["host"]["hook"], "Stop");
        assert_ne!(line["native_session"], CANARY);
        line["host"]["place"]["cwd"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    let (one, two) = (
        one.journal.identity().expect("an identity"),
        two.journal.identity().expect("an identity"),
    );
    assert_eq!(cwd(&one, "/a"), cwd(&one, "/a"));
    assert_ne!(cwd(&one, "/a"), cwd(&one, "/b"));
    assert_ne!(cwd(&one, "/a"), cwd(&two, "/a"));
    assert!(cwd(&one, "/a").starts_with("keyed:"));
}

#[test]
fn what_is_withheld_is_counted_per_session() {
    let place = place();
    let identity = place.journal.identity().expect("an identity");
    let cut = Cut {
        identity: &identity,
        level: Level::Decisions,
    };
    let mut sender = Sender::new(cut, "one");
    let story = [
        Does::Tool(1),
        Does::Tool(1),
        Does::Tool(2),
        Does::Starts,
        Does::Tool(2),
    ];
    for (number, does) in story.iter().enumerate() {
        let draft = draft(number, does);
        let mut event = envelope(number as u64 + 1, draft.event);
        event.stream = draft.stream;
        assert!(sender.take(&event, &Payload::None).is_none());
    }
    let run = sender.run();
    let lines: Vec<Value> = run[1..]
        .iter()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["seq"].as_u64(),
                line["kind"].as_str(),
                line["count"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (Some(1), Some("withheld"), Some(2)),
            (Some(3), Some("withheld"), Some(1)),
            (Some(4), Some("daemon_started"), None),
            (Some(5), Some("withheld"), Some(1)),
        ]
    );
}
