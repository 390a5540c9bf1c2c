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
            json!({"command": "echo hi", "description": "Run"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"filePath": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"filePath": "/a", "oldString": "x", "newString": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write",
            json!({"filePath": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "apply_patch",
            json!({"patchText": "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"}),
            Edit,
            None,
            "a",
        ),
        ("task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after =
        |exit: serde_json::Value| json!({"tool_response": {"output": "hi\n", "exit": exit}});
    for (payload, expected) in [
        (after(json!(0)), "ok"),
        (after(json!(1)), "err"),
        // Other tools have no exit code.
        (after(json!(null)), "ok"),
        (json!({"error": "File not found: /a"}), "err"),
        (
            json!({"error": "The user rejected permission to use this specific tool call."}),
            "no",
        ),
        (json!({"error": "Tool execution aborted"}), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
