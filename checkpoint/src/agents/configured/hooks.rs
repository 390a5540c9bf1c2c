//! Hook calls by Claude Code's names.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
    turn: &["prompt_id"],
    hook: None,
    frequent: &["PreToolUse", "PostToolUse", "PostToolUseFailure"],
};

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "Notification" => payload.notification(host),
        _ => common::event(hook, host, payload, &TOOLS),
    }
}
