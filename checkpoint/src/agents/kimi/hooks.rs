//! Kimi Code's hook calls: Claude Code's names.

use journal::{Event, Host, PromptOrigin};
use serde_json::Value;

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::Payload;

/// Kimi Code's names of fields, and the usual ones.
pub(super) const RENAMES: [(&str, &str); 2] = [
    ("tool_call_id", "tool_use_id"),
    ("tool_output", "tool_response"),
];

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "UserPromptSubmit" => prompt(host, payload),
        "Interrupt" => Event::Interrupted {
            host,
            cause: "user".into(),
        },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}

/// A message that is typed while it works belongs to the turn.
fn prompt(host: Host, payload: &Payload<'_>) -> Event {
    let is_added = payload.get("is_steer").and_then(Value::as_bool) == Some(true);
    match payload.prompt(host) {
        Event::PromptSubmitted {
            host,
            origin: PromptOrigin::User,
            text,
            digest,
        } if is_added => Event::PromptSubmitted {
            host,
            origin: PromptOrigin::Host,
            text,
            digest,
        },
        event => event,
    }
}
