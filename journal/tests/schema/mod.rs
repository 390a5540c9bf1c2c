//! `docs/journal.md` lists exactly the existing kinds of events and their fields.

use std::collections::BTreeSet;
use std::path::Path;

use journal::{
    Action, ChangedFile, Decision, Envelope, Event, Evidence, Host, Place, Run, Stream, Timeline,
    Timestamp, ToolCall, codec,
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// Returns an event of every kind: a variant's number followed by zeros decodes as an event with empty fields.
pub(crate) fn one_of_each() -> Vec<Event> {
    let decode = |number: u8| {
        let mut bytes = [0; 512];
        bytes[0] = number;
        codec::unpack::<Event>(&bytes)
    };
    (0..=250).map_while(decode).collect()
}

fn keys(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("plain data");
    let names: Vec<_> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(|key| format!("`{key}`"))
        .collect();
    names.join(", ")
}

fn line(event: Event) -> Value {
    let at = Timestamp::default();
    let envelope = Envelope {
        seq: 1,
        stream: Stream::daemon(),
        at,
        recorded_at: at,
        id: Uuid::nil(),
        late: false,
        event,
        origin: Some(Box::default()),
    };
    codec::to_export(&envelope, &journal::Payload::Dropped)
}

fn documented(mark: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/journal.md");
    let text = std::fs::read_to_string(file).expect("the document");
    let (_, rest) = text
        .split_once(&format!(
            "<!-- {mark}: checked by journal/tests/schema -->\n"
        ))
        .expect("a mark");
    let (_, rest) = rest.split_once("|---|---|\n").expect("a table");
    rest.split_once("<!-- end -->")
        .expect("an end")
        .0
        .to_owned()
}

#[test]
fn every_kind_is_known_by_its_word() {
    let kinds: Vec<_> = one_of_each().iter().map(Event::kind).collect();
    assert_eq!(kinds, Event::KINDS);
    assert!(kinds.len() >= 38);
}

#[test]
fn the_document_has_every_field_of_every_kind() {
    let address: BTreeSet<String> = {
        let line = line(Event::Unmuted {});
        line.as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect()
    };
    let row = |event: Event| {
        let (kind, line) = (event.kind(), line(event));
        let own: Vec<_> = line
            .as_object()
            .expect("an object")
            .keys()
            .filter(|key| !address.contains(*key))
            .collect();
        let own: Vec<_> = own.iter().map(|key| format!("`{key}`")).collect();
        format!(
            "| `{kind}` | {} |\n",
            if own.is_empty() {
                "none".into()
            } else {
                own.join(", ")
            }
        )
    };
    let expected: String = one_of_each().into_iter().map(row).collect();
    assert!(
        documented("kinds") == expected,
        "docs/journal.md must have:\n{expected}"
    );
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/journal.md"))
            .expect("text");
    assert!(
        address
            .iter()
            .all(|field| text.contains(&format!("| `{field}` |"))),
        "{address:?}"
    );
}

#[test]
fn the_document_has_every_field_of_every_object() {
    let action: Action =
        serde_json::from_str(r#"{"text":"","category":"","step":"runtime"}"#).expect("an action");
    let file = ChangedFile {
        path: String::new(),
        hash: None,
    };
    let decision = one_of_each().into_iter().find_map(|event| match event {
        Event::Decided(decision) => Some(*decision),
        _ => None,
    });
    let decision: Decision = decision.expect("a decision");
    let rows = [
        ("host", keys(Host::default())),
        ("host.place", keys(Place::default())),
        ("call", keys(ToolCall::default())),
        ("evidence", keys(Evidence::default())),
        ("evidence.timeline", keys(Timeline::default())),
        ("files[], evidence.changes.known[]", keys(file)),
        ("actions[]", keys(action)),
        ("run", keys(Run::default())),
    ];
    assert!(keys(decision).contains("`actions`"));
    let expected: String = rows
        .iter()
        .map(|(name, fields)| format!("| `{name}` | {fields} |\n"))
        .collect();
    assert!(
        documented("objects") == expected,
        "docs/journal.md must have:\n{expected}"
    );
}
