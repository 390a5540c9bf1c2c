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
            "run_shell_command",
            json!({"command": "echo hi", "description": "Run", "is_background": false}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read_file", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write_file",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "notebook_edit",
            json!({"notebook_path": "/a.ipynb"}),
            Edit,
            None,
            "/a.ipynb",
        ),
        ("agent", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let text = |code: &str| {
        format!(
            "Command: make\nDirectory: (root)\nOutput: hi\nError: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)"
        )
    };
    for (payload, expected) in [
        (
            json!({"tool_response": {"llmContent": text("0"), "returnDisplay": "hi"}}),
            "ok",
        ),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": {"llmContent": "Exit Code: 2", "returnDisplay": "Exit Code: 2"}}),
            "ok",
        ),
        (json!({"error": text("1"), "is_interrupt": false}), "err"),
        (
            json!({"error": "File not found: /a", "is_interrupt": false}),
            "err",
        ),
        (json!({"error": text("130"), "is_interrupt": true}), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
