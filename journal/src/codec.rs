//! Encodes and decodes envelopes.
//!
//! ```text
//! event value    format version (1 byte), bincode of the envelope; with version 2 bincode of its origin follows
//! payload value  0 = none; 1 = plain text follows; 3 = dropped by compaction
//! record         length of the event value (4 bytes LE), event value, payload value
//! ```
//!
//! An intake frame holds a record. The store keeps the two values apart, so folding history never reads a payload.

use bincode::config::{self, Configuration, Limit, LittleEndian, Varint};

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::frame::PAYLOAD_BYTES_MAX;
use crate::{Envelope, Event, Origin, Payload, payload};

/// Version of the stored format of an [`Envelope`].
///
/// - 1: first release.
/// - 2: as 1, and the event's origin follows. Only collectors have such events; all others are still written as 1, so
///   that a program that knows only 1 reads them.
/// - 3: no event, but the mark `ELSEWHERE`. Sealed segments are smaller, and the store no longer has their events.
///
/// A new variant at the end of [`Event`] needs no new version: an old program that meets it asks for an upgrade. Any other
/// change of a stored type needs one, with the old type kept here and an upcaster from it in [`decode_event`].
pub const FORMAT_VERSION: u8 = 3;
/// The version of an event of the journal's own machine.
const OWN: u8 = 1;
/// The version of an event that came from another machine.
const RECEIVED: u8 = 2;

/// The store's value of event 1 once only the log has it. Programs that expect every event in the store take it for one of
/// a newer format, and refuse the journal.
pub(crate) const ELSEWHERE: [u8; 1] = [3];

/// The payload value of an event without a payload.
pub(crate) const NO_PAYLOAD: [u8; 1] = [0];
/// The payload value of an event whose payload compaction has dropped.
pub(crate) const DROPPED: [u8; 1] = [3];

/// Maximum size of a decoded value: what fits into a frame. Memory is allocated before the bytes are read, so a damaged
/// length must be rejected first.
const DECODED_BYTES_MAX: usize = PAYLOAD_BYTES_MAX;
const CONFIG: Configuration<LittleEndian, Varint, Limit<DECODED_BYTES_MAX>> =
    config::standard().with_limit();

/// Encodes an envelope into an event value.
pub fn encode_event(envelope: &Envelope) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write_event(&mut out, envelope);
    out
}

fn write_event(out: &mut Vec<u8>, envelope: &Envelope) {
    let written = "events are plain data, and writing to a vector does not fail";
    out.push(envelope.origin.as_ref().map_or(OWN, |_| RECEIVED));
    bincode::serde::encode_into_std_write(envelope, out, CONFIG).expect(written);
    if let Some(origin) = &envelope.origin {
        bincode::serde::encode_into_std_write(origin, out, CONFIG).expect(written);
    }
}

/// Decodes an event value of any known version.
///
/// # Errors
///
/// [`Error::Newer`] for a version from the future, [`Error::Damaged`] for anything else that is not an envelope.
pub fn decode_event(bytes: &[u8]) -> Result<Envelope> {
    match bytes.split_first() {
        Some((&version @ (OWN | RECEIVED), rest)) => {
            let (mut envelope, mut read) =
                bincode::serde::decode_from_slice::<Envelope, _>(rest, CONFIG).map_err(explain)?;
            if version == RECEIVED {
                let (origin, more) =
                    bincode::serde::decode_from_slice(&rest[read..], CONFIG).map_err(explain)?;
                envelope.origin = Some(origin);
                read += more;
            }
            if read == rest.len() {
                Ok(envelope)
            } else {
                let problem = format!("{} bytes follow its end", rest.len() - read);
                Err(Error::damaged("an event", problem))
            }
        }
        Some((&found, _)) if found > FORMAT_VERSION => Err(Error::Newer {
            what: "an event".into(),
            found: found.into(),
            known: FORMAT_VERSION.into(),
        }),
        Some((&found, _)) => Err(Error::damaged(
            "an event",
            format!("unknown format {found}"),
        )),
        None => Err(Error::damaged("an event", "it is empty")),
    }
}

/// Decodes only the sequence number and the session of an event value; `None` if they cannot be read.
pub(crate) fn address(bytes: &[u8]) -> Option<(u64, Uuid)> {
    match bytes.split_first()? {
        // An envelope starts with its sequence number and its stream, a stream with its session.
        (&(OWN | RECEIVED), rest) => unpack(rest),
        _ => None,
    }
}

fn explain(error: bincode::error::DecodeError) -> Error {
    match error {
        // Only a newer program writes a variant after the last known one.
        bincode::error::DecodeError::OtherString(text) if text.contains("variant index") => {
            Error::Newer {
                what: format!("an event ({text})"),
                found: u32::from(FORMAT_VERSION) + 1,
                known: FORMAT_VERSION.into(),
            }
        }
        other => Error::damaged("an event", other.to_string()),
    }
}

/// Encodes a host's payload into a payload value. Plain: sealing compresses many of them together.
pub fn encode_payload(payload: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.map_or(0, str::len) + 1);
    write_payload(&mut out, payload);
    out
}

fn write_payload(out: &mut Vec<u8>, payload: Option<&str>) {
    match payload {
        None => out.extend_from_slice(&NO_PAYLOAD),
        Some(text) => {
            out.push(1);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Compares the payload values of store and log. Compaction changes one side after the other; after a crash in between,
/// the next compaction completes it.
pub(crate) fn is_same_payload(stored: Option<&[u8]>, logged: &[u8]) -> bool {
    let stored = stored.unwrap_or(&NO_PAYLOAD);
    stored == logged || stored == DROPPED || logged == DROPPED
}

/// Decodes a payload value.
///
/// # Errors
///
/// [`Error::Damaged`] if the bytes are not a payload value.
pub fn decode_payload(bytes: &[u8]) -> Result<Payload> {
    let text = match bytes.split_first() {
        Some((0, [])) => return Ok(Payload::None),
        Some((3, [])) => return Ok(Payload::Dropped),
        Some((1, text)) => text.to_vec(),
        _ => return Err(Error::damaged("a payload", "unknown encoding")),
    };
    let text = String::from_utf8(text).map(Payload::Text);
    text.map_err(|_| Error::damaged("a payload", "it is not text"))
}

/// Appends the record of an event. A record without a payload may be one whose payload was dropped.
pub(crate) fn write_record(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    payload: Option<&str>,
    is_dropped: bool,
) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write_event(out, envelope);
    let length = u32::try_from(out.len() - at - 4).expect("events are far smaller than 4 GB");
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    match is_dropped {
        true => out.extend_from_slice(&DROPPED),
        false => write_payload(out, payload),
    }
}

/// Joins an event value and a payload value into a record.
pub fn join(event: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(event.len()).expect("events are far smaller than 4 GB");
    [&length.to_le_bytes(), event, payload].concat()
}

/// Splits a record into its event value and its payload value.
///
/// # Errors
///
/// [`Error::Damaged`] if the bytes are not a record.
pub fn split(record: &[u8]) -> Result<(&[u8], &[u8])> {
    let damaged = || Error::damaged("a record", "it is cut short");
    let (length, rest) = record.split_first_chunk::<4>().ok_or_else(damaged)?;
    let parts = rest.split_at_checked(u32::from_le_bytes(*length) as usize);
    parts.ok_or_else(damaged)
}

/// Returns an envelope as the JSON object of `journal export`, `tail` and the API.
///
/// `{"seq","at","recorded_at","session","native_session","agent","id","late","kind", ..fields of the kind.., "payload"}`
pub fn to_json(envelope: &Envelope, payload: Option<&str>) -> serde_json::Value {
    let mut line = serde_json::Map::new();
    line.insert("seq".into(), envelope.seq.into());
    line.insert("at".into(), envelope.at.to_string().into());
    line.insert(
        "recorded_at".into(),
        envelope.recorded_at.to_string().into(),
    );
    line.insert("session".into(), envelope.stream.session.to_string().into());
    line.insert("native_session".into(), envelope.stream.native().into());
    line.insert("agent".into(), envelope.stream.agent.word().into());
    line.insert("id".into(), envelope.id.to_string().into());
    line.insert("late".into(), envelope.late.into());
    line.insert("kind".into(), envelope.event.kind().into());
    if let Some(origin) = &envelope.origin {
        line.insert("machine".into(), origin.machine.clone().into());
        line.insert("journal".into(), origin.journal.to_string().into());
        line.insert("journal_seq".into(), origin.seq.into());
        line.insert("withheld".into(), origin.withheld.clone().into());
    }
    let tagged = serde_json::to_value(&envelope.event).expect("events hold only plain data");
    if let serde_json::Value::Object(fields) = tagged {
        for (_, value) in fields {
            if let serde_json::Value::Object(fields) = value {
                debug_assert!(
                    fields.keys().all(|field| !line.contains_key(field)),
                    "{fields:?} hides a field of the envelope"
                );
                line.extend(fields);
            }
        }
    }
    let payload = payload.map(|text| match payload::shown(text) {
        // It would be read back as the text inside.
        own if wrapped(&own).is_some() => payload::wrap(text),
        own => own,
    });
    line.insert("payload".into(), payload.unwrap_or_default());
    line.into()
}

/// Like [`to_export`], with an object in place of each text that holds one. An export keeps the texts, so that the same
/// journal always gives the same bytes.
pub fn to_view(envelope: &Envelope, payload: &Payload) -> serde_json::Value {
    let mut line = to_export(envelope, payload);
    for field in texts_of_json(envelope.event.kind()) {
        if let Some(value) = line.get_mut(*field)
            && let Some(read) = value.as_str().and_then(exactly)
        {
            *value = read;
        }
    }
    line
}

/// Returns the fields of a kind that are stored as the text of a JSON object.
pub(crate) fn texts_of_json(kind: &str) -> &'static [&'static str] {
    match kind {
        "policy_adopted" => &["text"],
        "progress_written" => &["document"],
        "progress_validated" => &["report"],
        _ => &[],
    }
}

/// Reads the text of a JSON object; `None` if writing the object again would give another text.
fn exactly(text: &str) -> Option<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let again = value.to_string();
    (value.is_object() && again == text).then_some(value)
}

/// Returns the text in a value of [`payload::wrap`]; `None` for any other value.
fn wrapped(value: &serde_json::Value) -> Option<&str> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get("text")?.as_str()
}

/// Like [`to_json`], and marks a dropped payload: `"payload":null,"payload_dropped":true`.
pub fn to_export(envelope: &Envelope, payload: &Payload) -> serde_json::Value {
    let mut line = to_json(envelope, payload.text());
    if *payload == Payload::Dropped
        && let serde_json::Value::Object(fields) = &mut line
    {
        fields.insert("payload_dropped".into(), true.into());
    }
    line
}

/// Reads a line that [`to_json`], [`to_export`] or [`to_view`] wrote. Returns the envelope and its payload.
///
/// # Errors
///
/// A message that names the wrong field.
pub fn from_json(line: serde_json::Value) -> std::result::Result<(Envelope, Payload), String> {
    let serde_json::Value::Object(mut line) = line else {
        return Err("not a JSON object".into());
    };
    fn take<T: serde::de::DeserializeOwned>(
        line: &mut serde_json::Map<String, serde_json::Value>,
        name: &str,
    ) -> std::result::Result<T, String> {
        // The order of what is left does not matter.
        let value = line.swap_remove(name).unwrap_or_default();
        serde_json::from_value(value).map_err(|error| format!("field `{name}`: {error}"))
    }
    let seq = take(&mut line, "seq")?;
    let at = take(&mut line, "at")?;
    let recorded_at = take(&mut line, "recorded_at")?;
    let session: Uuid = take(&mut line, "session")?;
    let native: String = take(&mut line, "native_session")?;
    let agent = take(&mut line, "agent")?;
    let id = take(&mut line, "id")?;
    let late = take(&mut line, "late")?;
    let kind: String = take(&mut line, "kind")?;
    let dropped = take::<Option<bool>>(&mut line, "payload_dropped")?.unwrap_or(false);
    let origin = match take::<Option<Uuid>>(&mut line, "journal")? {
        Some(journal) => Some(Box::new(Origin {
            machine: take(&mut line, "machine")?,
            journal,
            seq: take(&mut line, "journal_seq")?,
            withheld: take(&mut line, "withheld")?,
        })),
        None => None,
    };
    let payload = match take::<serde_json::Value>(&mut line, "payload")? {
        serde_json::Value::Null if dropped => Payload::Dropped,
        serde_json::Value::Null => Payload::None,
        other => Payload::Text(match wrapped(&other) {
            Some(text) => text.to_owned(),
            None => other.to_string(),
        }),
    };
    for field in texts_of_json(&kind) {
        if let Some(value) = line.get_mut(*field).filter(|value| value.is_object()) {
            *value = value.to_string().into();
        }
    }
    let tagged = serde_json::json!({ kind.clone(): line });
    let event: Event =
        serde_json::from_value(tagged).map_err(|error| format!("kind `{kind}`: {error}"))?;
    let native = (native != session.to_string()).then_some(native);
    let stream = crate::Stream {
        session,
        agent,
        native,
    };
    Ok((
        Envelope {
            seq,
            stream,
            at,
            recorded_at,
            id,
            late,
            event,
            origin,
        },
        payload,
    ))
}

/// Encodes a value that may be lost at any time, such as a snapshot. The format has no version.
pub fn pack<T: serde::Serialize>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, CONFIG).expect("snapshots hold only plain data")
}

/// Decodes a value that [`pack`] encoded; `None` for any other bytes.
pub fn unpack<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, _) = bincode::serde::decode_from_slice(bytes, CONFIG).ok()?;
    Some(value)
}
