//! Codex CLI's hook calls, and the calls of its older `notify` program, whose replies are not read.

use journal::{Event, Host};
use serde_json::Value;

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};
use crate::{digest, text};

const NOTIFY: &str = "notify";

const HOOK_FIELDS: Fields = Fields {
    session: "session_id",
    turn: &["turn_id"],
    hook: None,
    frequent: &["PreToolUse", "PostToolUse"],
};

const NOTIFY_FIELDS: Fields = Fields {
    session: "thread-id",
    turn: &["turn-id"],
    hook: Some(NOTIFY),
    frequent: &[],
};

pub(super) fn fields(payload: &Payload<'_>) -> &'static Fields {
    if payload.text("type").is_some() && payload.text("thread-id").is_some() {
        &NOTIFY_FIELDS
    } else {
        &HOOK_FIELDS
    }
}

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        NOTIFY => notified(host, payload),
        "Interrupt" => Event::Interrupted {
            host,
            cause: "user".into(),
        },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}

/// A call of `notify` is a stop that cannot be answered.
fn notified(host: Host, payload: &Payload<'_>) -> Event {
    let last_input = || {
        let inputs = payload.get("input-messages").and_then(Value::as_array)?;
        inputs.last().and_then(Value::as_str)
    };
    Event::AgentStopped {
        host,
        reentry: false,
        background_tasks: 0,
        can_reply: false,
        prompt_digest: last_input().map(digest::of_prompt),
        last_message: payload
            .text("last-assistant-message")
            .map(|last| text::tail(last, Event::TEXT_BYTES_MAX).to_owned()),
    }
}
