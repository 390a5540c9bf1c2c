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
        ("view", json!({"path": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"path": "/a", "old_str": "x", "new_str": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "create",
            json!({"path": "/a", "file_text": "x"}),
            Write,
            None,
            "/a",
        ),
        ("task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |kind: &str, text: &str| json!({"tool_response": {"resultType": kind, "textResultForLlm": text}});
    for (payload, expected) in [
        (
            after("success", "x\n<shellId: 0 completed with exit code 0>"),
            "ok",
        ),
        (
            after("success", "x\n<shellId: 0 completed with exit code 2>"),
            "err",
        ),
        (
            after("denied", "Denied by preToolUse hook (hook errored)"),
            "no",
        ),
        (json!({"error": "Path does not exist"}), "err"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
