//! Reads the lines of an export: as [`codec::from_json`], without a tree of values for what is kept as text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Agent, Envelope, Event, Payload, Stream, Timestamp, codec};

/// A machine's own event as a line has it; the fields of its kind are left in `fields`.
#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    at: Timestamp,
    recorded_at: Timestamp,
    session: Uuid,
    #[serde(borrow)]
    native_session: Cow<'a, str>,
    agent: Agent,
    id: Uuid,
    late: bool,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(default)]
    payload_dropped: bool,
    withheld: Option<Vec<String>>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// Reads a line of an event that is the machine's own. Returns it, its payload, and what the machine withheld of it. `None`
/// if it is not plainly one; [`codec::from_json`] may still read it, and says what is wrong.
pub fn read(text: &str) -> Option<(Envelope, Payload, Vec<String>)> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    let is_plain = |name: &str| !line.fields.contains_key(name);
    if !is_plain("journal") || !codec::texts_of_json(&line.kind).is_empty() {
        return None;
    }
    let payload = match line.payload {
        None if line.payload_dropped => Payload::Dropped,
        None => Payload::None,
        // A text in an object may stand for what is no JSON.
        Some(raw) if raw.get().starts_with("{\"text\":") => return None,
        Some(raw) => Payload::Text(raw.get().to_owned()),
    };
    let kind = line.kind.into_owned();
    let tagged = Map::from_iter([(kind, Value::Object(line.fields))]);
    let event: Event = serde_json::from_value(Value::Object(tagged)).ok()?;
    let native = line.native_session.into_owned();
    let native = (native != line.session.to_string()).then_some(native);
    let envelope = Envelope {
        seq: line.seq,
        stream: Stream {
            session: line.session,
            agent: line.agent,
            native,
        },
        at: line.at,
        recorded_at: line.recorded_at,
        id: line.id,
        late: line.late,
        event,
        origin: None,
    };
    Some((envelope, payload, line.withheld.unwrap_or_default()))
}
