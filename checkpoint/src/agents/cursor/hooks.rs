//! Cursor's hook calls.

use journal::{Event, Host};
use serde_json::Value;

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

/// Cursor's names of fields, and the usual ones.
pub(super) const RENAMES: [(&str, &str); 4] = [
    ("conversation_id", "session_id"),
    ("tool_output", "tool_response"),
    ("error_message", "error"),
    ("duration", "duration_ms"),
];

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
    turn: &["generation_id"],
    hook: None,
    frequent: &["preToolUse", "postToolUse", "postToolUseFailure"],
};

/// How many answers in a row Cursor submits, if an entry does not set it.
const LOOP_LIMIT: u64 = 5;

pub(super) fn event(hook: &str, mut host: Host, payload: &Payload<'_>) -> Event {
    settle(&mut host, payload);
    let usual = match hook {
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "beforeSubmitPrompt" => "UserPromptSubmit",
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "postToolUseFailure" => return failure(host, payload),
        "preCompact" => "PreCompact",
        "stop" => return stop(host, payload),
        _ => return Event::OtherHook { host },
    };
    common::event(usual, host, payload, &TOOLS)
}

/// Cursor names the folders of the workspace. The form of its transcripts is not documented.
fn settle(host: &mut Host, payload: &Payload<'_>) {
    let Some(place) = &mut host.place else {
        return;
    };
    let roots = payload.get("workspace_roots");
    let root = roots.and_then(|roots| roots.get(0)?.as_str());
    if let (true, Some(root)) = (place.cwd.is_empty(), root) {
        root.clone_into(&mut place.cwd);
    }
    place.transcript = None;
}

fn failure(host: Host, payload: &Payload<'_>) -> Event {
    let mut call = payload.finished_tool(&TOOLS);
    if payload.text("failure_type") == Some("permission_denied") {
        call.refused = true;
        call.is_error = false;
        call.output.clear();
    }
    Event::ToolFailed { host, call }
}

/// Returns how often the stops of the conversation have been answered in a row.
fn answered(count: Option<&Value>) -> u64 {
    count.and_then(Value::as_u64).unwrap_or(0)
}

fn stop(host: Host, payload: &Payload<'_>) -> Event {
    let cause = match payload.text("status") {
        Some("aborted") => "user",
        Some("error") => "api_error",
        _ => {
            let mut event = payload.stop(host, "last_assistant_message");
            if let Event::AgentStopped { reentry, .. } = &mut event {
                *reentry = answered(payload.get("loop_count")) > 0;
            }
            return event;
        }
    };
    Event::Interrupted {
        host,
        cause: cause.into(),
    }
}

/// Returns whether an answer to this stop is submitted.
pub(super) fn may_continue(payload: &Value) -> bool {
    answered(payload.get("loop_count")) < LOOP_LIMIT
}
