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
            "file_system.bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "file_system.read_file",
            json!({"file_path": "a"}),
            Read,
            None,
            "a",
        ),
        // In the form of its journal.
        (
            "file_system.read_file",
            json!({"path": "a"}),
            Read,
            None,
            "a",
        ),
        (
            "file_system.search_replace",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": false}),
            Edit,
            None,
            "/a",
        ),
        (
            "file_system.write_file",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("vibe.todo", json!({"action": "read"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let ran = |code: i64| json!({"tool_response": {"command": "x", "returncode": code, "stderr": "", "stdout": "hi\n"}, "error": null});
    for (payload, expected) in [
        (ran(0), "ok"),
        (ran(1), "err"),
        (ran(-9), "err"),
        (
            json!({"tool_response": null, "error": "File not found at: /a"}),
            "err",
        ),
        (
            json!({"tool_response": null, "error": "Tool execution denied by approval callback"}),
            "no",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
