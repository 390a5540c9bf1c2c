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
            "Bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "Write",
            json!({"path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("Agent", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let failed =
        |text: &str| json!({"error": {"code": "internal", "message": text, "retryable": false}});
    for (payload, expected) in [
        (json!({"tool_response": "hi\n"}), "ok"),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": "Command failed with exit code: 1."}),
            "ok",
        ),
        (failed("hi\nCommand failed with exit code: 1."), "err"),
        (failed("\"/a\" does not exist."), "err"),
        (failed("Aborted by the user"), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
