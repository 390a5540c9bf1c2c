//! Hook calls to events: payload in, event in normal form out.
//!
//! Each agent's `hooks.rs` (see `rooms/`) knows its payloads' fields; `payload.rs` reads what their payloads
//! share, `common.rs` the events that several agents name alike. An unknown event is kept and means nothing; only a
//! payload that cannot be attributed to a session is refused, with a sentence for the caller.

pub(crate) mod common;
mod limits;
pub(crate) mod payload;
pub mod printed;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use journal::{Agent, Draft, Event, Stream, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::rooms;
use reading::{digest, text};
use redact::Redactor;

use payload::Payload;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A hook call as it arrived.
#[derive(Clone, Debug)]
pub struct HookCall<'a> {
    /// The agent, from the command line or the URL.
    pub agent: Agent,
    /// The event's name, if the caller gave one.
    pub event: Option<&'a str>,
    /// The payload as the agent sent it.
    pub payload: &'a [u8],
    /// When the hook was called.
    pub at: Timestamp,
    /// The call's own id.
    pub id: Uuid,
    /// Hook-relevant environment variables.
    pub env: Vec<(String, String)>,
    /// Whether the client could not read all of the payload.
    pub truncated: bool,
}

/// How a payload is read and kept.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// First words of our own texts.
    pub prefix: &'a str,
    /// The largest payload that is kept whole, in bytes.
    pub payload_bytes_max: usize,
    /// Removes secrets before anything else is read.
    pub redactor: &'a Redactor,
    /// The agents that the configuration describes.
    pub agents: &'a dyn Described,
}

/// What a configuration says of agents that this product does not know.
pub trait Described: std::fmt::Debug + Sync {
    /// Gives the fields and the tools of an agent's payload the names that Claude Code has for them, if the agent is
    /// described, so that what is journaled can be read without the configuration.
    fn translate(&self, agent: Agent, payload: &mut Value);
}

/// No agent is described.
impl Described for () {
    fn translate(&self, _: Agent, _: &mut Value) {}
}

/// A hook call in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normal {
    /// The event to append.
    pub draft: Draft,
    /// Identifies the content: two calls of a doubly registered hook have the same one.
    pub content: Uuid,
    /// Whether the agent continues if this stop is answered.
    pub may_continue: bool,
}

/// Reads a hook call into its event.
///
/// # Errors
///
/// One sentence that says what is wrong with the payload.
pub fn normalize(call: &HookCall<'_>, reading: Reading<'_>) -> Result<Normal, String> {
    // Some shells put it before what they pipe.
    let payload = call
        .payload
        .strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(call.payload);
    if payload.iter().all(u8::is_ascii_whitespace) {
        return Err("the payload is empty".into());
    }
    let mut value: Value = limits::parse(payload).map_err(|error| {
        let cut = if call.truncated {
            " (it was cut off while it was read)"
        } else {
            ""
        };
        format!("the payload is not JSON: {error}{cut}")
    })?;
    if !value.is_object() {
        return Err("the payload is not a JSON object".into());
    }
    // The first is far faster.
    let raw = std::str::from_utf8(payload)
        .map_or_else(|_| String::from_utf8_lossy(payload), Cow::Borrowed);
    let redacted = reading.redactor.payload(&mut value, &raw);
    let adapter =
        rooms::adapter(call.agent).ok_or_else(|| format!("{} has no hooks", call.agent))?;
    reading.agents.translate(call.agent, &mut value);
    rename(&mut value, &(adapter.tools.known)().renames);
    let authors = rooms::authors(reading.prefix);
    let payload = Payload::new(&value, call.at, &authors);
    let fields = adapter.fields(&payload);
    let variable = adapter.variables.session;
    let stream = Stream::of_native(call.agent, payload.session(fields, variable, &call.env)?);
    let hook = payload.hook(fields, call.event)?;
    let host = payload.host(fields, hook, &call.env);
    let event = (adapter.event)(hook, host, &payload, adapter.tools);
    let id = identity(&payload, &stream, hook, &event).unwrap_or(call.id);
    let content = match event {
        Event::AgentStopped { .. } if adapter.repeats_stops => id,
        _ => digest::of_call(stream.session, hook, call.payload),
    };
    let may_continue = (adapter.may_continue)(&value);
    let kept = redacted.as_deref().unwrap_or(&raw).trim();
    let payload = Some(keep_payload(kept, reading.payload_bytes_max));
    Ok(Normal {
        draft: Draft {
            stream,
            at: call.at,
            id,
            event,
            payload,
        },
        content,
        may_continue,
    })
}

/// Gives fields their usual names. A field of an object is `OBJECT.FIELD`.
fn rename(payload: &mut Value, names: &BTreeMap<String, String>) {
    let Some(fields) = payload.as_object_mut() else {
        return;
    };
    for (own, usual) in names {
        let value = match own.split_once('.') {
            Some((object, field)) => fields
                .get_mut(object)
                .and_then(|object| object.as_object_mut()?.remove(field)),
            None => fields.remove(own),
        };
        if let Some(value) = value {
            fields.insert(usual.clone(), value);
        }
    }
}

/// Returns a payload as it is kept: whole, or over the bound its head, tail, length and hash.
pub fn keep_payload(raw: &str, bytes_max: usize) -> String {
    if raw.len() <= bytes_max {
        return raw.to_owned();
    }
    let half = bytes_max / 2;
    let cut = serde_json::json!({
        "checkpointd_cut": {
            "bytes": raw.len(),
            "xxh3": format!("{:016x}", digest::of_text(raw)),
            "head": text::head(raw, half),
            "tail": text::tail(raw, half),
        }
    });
    cut.to_string()
}

/// Returns the identity that the agent itself gives a call, so that a doubly registered hook is one event.
fn identity(payload: &Payload<'_>, stream: &Stream, hook: &str, event: &Event) -> Option<Uuid> {
    let host = event.host()?;
    let turn = host.turn.as_deref().unwrap_or_default();
    let subagent = host.subagent.as_deref().unwrap_or_default();
    let own = match event {
        Event::PromptSubmitted { digest, .. } if host.turn.is_some() => digest.to_string(),
        Event::AgentStopped {
            can_reply: false, ..
        } if host.turn.is_some() => String::new(),
        _ => payload.text("tool_use_id")?.to_owned(),
    };
    let name = [hook, turn, subagent, &own].join("\0");
    Some(Uuid::new_v5(&stream.session, name.as_bytes()))
}
