//! The hooks that Claude Code named first, and other agents after it.

use journal::{Event, Host};

use super::payload::Payload;
pub(crate) use super::payload::interrupted;
use crate::tools::Tools;

/// Like [`event`], of an agent whose notifications have a type.
pub(crate) fn event_or_notification(
    hook: &str,
    host: Host,
    payload: &Payload<'_>,
    tools: &Tools,
) -> Event {
    match hook {
        "Notification" => payload.notification(host),
        _ => event(hook, host, payload, tools),
    }
}

/// Returns the event of a hook call by its common name; [`Event::OtherHook`] for any other name.
pub(crate) fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        "SessionStart" => Event::SessionStarted {
            host,
            source: payload.owned("source"),
        },
        "SessionEnd" => Event::SessionEnded {
            host,
            reason: payload.owned("reason"),
        },
        "UserPromptSubmit" => payload.prompt(host),
        "PreToolUse" => Event::ToolStarted {
            host,
            call: payload.tool(tools),
        },
        "PostToolUse" => Event::ToolFinished {
            host,
            call: payload.finished_tool(tools),
        },
        "PostToolUseFailure" => Event::ToolFailed {
            host,
            call: payload.finished_tool(tools),
        },
        "PermissionRequest" => Event::PermissionAsked {
            host,
            call: payload.tool(tools),
        },
        "Stop" => payload.stop(host, "last_assistant_message"),
        "StopFailure" => interrupted(host, "api_error"),
        "PreCompact" => Event::CompactionStarted {
            host,
            trigger: payload.owned("trigger"),
        },
        "PostCompact" => Event::CompactionFinished {
            host,
            trigger: payload.owned("trigger"),
        },
        "SubagentStart" => Event::SubagentStarted {
            host,
            subagent_type: payload.owned("agent_type"),
        },
        "SubagentStop" => Event::SubagentStopped {
            host,
            subagent_type: payload.owned("agent_type"),
        },
        _ => Event::OtherHook { host },
    }
}
