//! Claude Code's hook calls.

use journal::{Event, Host, ToolCall};
use serde_json::Value;

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload, is_running};

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
        "PermissionDenied" => Event::ToolFinished {
            host,
            call: ToolCall {
                finished: true,
                refused: true,
                ..payload.tool(&TOOLS)
            },
        },
        // A command in a skill's text; it runs before the skill is read, and no other hook reports it.
        "PreSkillShellCommand" => Event::ToolStarted {
            host,
            call: payload.tool(&TOOLS),
        },
        "Notification" => payload.notification(host),
        "MessageDisplay" => Event::ModelStepped { host },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}

/// A shell runs until it is stopped (a development server), or the agent learns about its end in its next turn; a monitor
/// waits for what may never come. Every other kind of task is part of the agent's work and hands its result to the agent.
const NOT_RETURNING: [&str; 2] = ["shell", "monitor"];

/// Returns how many running tasks bring another stop; `None` if one of them does not say what it is.
pub(super) fn returning_tasks(payload: &Value) -> Option<u32> {
    let tasks = payload.get("background_tasks")?.as_array()?;
    let mut returning = 0;
    for task in tasks.iter().filter(|task| is_running(task)) {
        let kind = task.get("type")?.as_str()?;
        returning += u32::from(!NOT_RETURNING.contains(&kind));
    }
    Some(returning)
}
