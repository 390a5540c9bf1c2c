//! Qwen Code's hook calls: Claude Code's names, with differences.

use journal::{Event, Host, PromptOrigin, ToolCall};
use serde_json::Value;

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload, is_running};

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
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
        "UserPromptSubmit" => prompt(host, payload),
        "PreToolUse" => Event::ToolStarted {
            host,
            call: named(payload, payload.tool(&TOOLS)),
        },
        "PostToolUse" => Event::ToolFinished {
            host,
            call: named(payload, payload.finished_tool(&TOOLS)),
        },
        "PostToolUseFailure" => Event::ToolFailed {
            host,
            call: named(payload, payload.finished_tool(&TOOLS)),
        },
        "Notification" => payload.notification(host),
        "MessageDisplay" => Event::ModelStepped { host },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}

/// Qwen Code calls this hook before each call of the model. Only what a person sent has `submitted_prompt`; our text and
/// that of other hooks come without, and after a tool's result there is no text at all.
fn prompt(host: Host, payload: &Payload<'_>) -> Event {
    if payload.text("prompt").unwrap_or_default().is_empty() {
        return Event::ModelStepped { host };
    }
    let is_sent = payload.text("submitted_prompt").is_some();
    match payload.prompt(host) {
        Event::PromptSubmitted {
            host,
            origin: PromptOrigin::User,
            text,
            digest,
        } if !is_sent => Event::PromptSubmitted {
            host,
            origin: PromptOrigin::Host,
            text,
            digest,
        },
        event => event,
    }
}

/// The hook's own id of the call is made up; the transcript has the model's.
fn named(payload: &Payload<'_>, call: ToolCall) -> ToolCall {
    let id = payload.text("tool_call_id").map(str::to_owned);
    ToolCall {
        id: id.or(call.id),
        ..call
    }
}

/// Returns how many running tasks bring another stop: all, as only subagents are listed, and each tells when it is done.
pub(super) fn returning_tasks(payload: &Value) -> Option<u32> {
    let tasks = payload.get("background_tasks")?.as_array()?;
    let running = tasks.iter().filter(|task| is_running(task)).count();
    u32::try_from(running).ok()
}
