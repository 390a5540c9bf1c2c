//! Claude Code's hook calls.

use journal::{Event, Host, ToolCall};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
    // The `turn_id` of `MessageDisplay` is not the turn's.
    turn: &["prompt_id"],
    hook: None,
    frequent: &[
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "MessageDisplay",
    ],
};

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "PostToolUseFailure" => Event::ToolFailed {
            host,
            call: payload.finished_tool(&TOOLS),
        },
        "PermissionDenied" => Event::ToolFinished {
            host,
            call: ToolCall {
                finished: true,
                refused: true,
                ..payload.tool(&TOOLS)
            },
        },
        "StopFailure" => Event::Interrupted {
            host,
            cause: "api_error".into(),
        },
        "Notification" => payload.notification(host),
        "MessageDisplay" => Event::ModelStepped { host },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}
