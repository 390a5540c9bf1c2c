//! What the agent's tools do, and how their calls end.

use journal::ToolKind;
use serde_json::json;

use super::super::tools::TOOLS;
use crate::tools::tests::{described, ended_by_hook};

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"path": "a"}), Read, None, "a"),
        (
            "edit",
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            Edit,
            None,
            "a",
        ),
        (
            "write",
            json!({"path": "a", "content": "x"}),
            Write,
            None,
            "a",
        ),
        ("ls", json!({}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |is_error: bool, text: &str| json!({"tool_response": {"content": [{"type": "text", "text": text}], "isError": is_error}});
    for (payload, expected) in [
        (after(false, "hi\n"), "ok"),
        (after(true, "hi\n\n\nCommand exited with code 1"), "err"),
        // A program may print what looks like the end of another one.
        (after(false, "Command exited with code 1"), "ok"),
        (after(true, "Command aborted"), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
