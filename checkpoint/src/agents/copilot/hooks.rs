//! Copilot's hook calls, whose names of events are on the command line.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

/// Copilot's names of fields, and the usual ones.
pub(super) const RENAMES: [(&str, &str); 7] = [
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("toolResult", "tool_response"),
    ("toolInput", "tool_input"),
    ("agentId", "agent_id"),
];

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
    turn: &[],
    hook: None,
    frequent: &["preToolUse", "postToolUse", "postToolUseFailure"],
};

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    let usual = match hook {
        // A subagent's hook calls have a session of their own. Its stop is not the agent's.
        "agentStop" if host.subagent.is_some() => return Event::OtherHook { host },
        "postToolUseFailure" => "PostToolUseFailure",
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "userPromptSubmitted" => "UserPromptSubmit",
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "agentStop" => "Stop",
        "preCompact" => "PreCompact",
        _ => return Event::OtherHook { host },
    };
    common::event(usual, host, payload, &TOOLS)
}
