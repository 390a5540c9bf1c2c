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
            "Execute",
            json!({"command": "echo hi", "summary": "run", "riskLevel": "low"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"file_path": "/a", "old_str": "x", "new_str": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "Create",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("Task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    for (payload, expected) in [
        (
            json!({"tool_response": "hi\n\n\n[Process exited with code 0]"}),
            "ok",
        ),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": "[Process exited with code 1]"}),
            "ok",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
