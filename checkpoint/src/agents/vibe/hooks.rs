//! Vibe's hook calls: `pre_tool`, `post_tool` and `post_agent`.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

/// Vibe's names of fields, and the usual ones.
pub(super) const RENAMES: [(&str, &str); 3] = [
    ("tool_call_id", "tool_use_id"),
    ("tool_output", "tool_response"),
    ("tool_error", "error"),
];

const PARENT: &str = "parent_session_id";

const FIELDS: Fields = Fields {
    session: "session_id",
    turn: &[],
    hook: None,
    frequent: &["pre_tool", "post_tool"],
};

/// A subagent's calls have a session of their own, and its place is not the agent's.
const OF_SUBAGENT: Fields = Fields {
    session: PARENT,
    turn: &[],
    hook: None,
    frequent: &["pre_tool", "post_tool", "post_agent"],
};

pub(super) fn fields(payload: &Payload<'_>) -> &'static Fields {
    if payload.text(PARENT).is_some() {
        &OF_SUBAGENT
    } else {
        &FIELDS
    }
}

pub(super) fn event(hook: &str, mut host: Host, payload: &Payload<'_>) -> Event {
    if payload.text(PARENT).is_some() {
        host.subagent = payload.text(FIELDS.session).map(str::to_owned);
    }
    let usual = match hook {
        "pre_tool" => "PreToolUse",
        "post_tool" if payload.text("tool_status") == Some("success") => "PostToolUse",
        "post_tool" => "PostToolUseFailure",
        "post_agent" if host.subagent.is_some() => "SubagentStop",
        "post_agent" => "Stop",
        // The other names that other agents share would mean the same.
        other => other,
    };
    common::event(usual, host, payload, &TOOLS)
}
