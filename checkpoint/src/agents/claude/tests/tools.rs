//! What the agent's tools do, and how their calls end.

use journal::ToolKind;
use serde_json::{Value, json};

use super::super::tools::TOOLS;
use crate::tools::tests::{described, ended, ended_by_hook};

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "Bash",
            json!({"command": "echo hi", "description": "x"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "x"}),
            Edit,
            None,
            "/a",
        ),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": []}),
            Edit,
            None,
            "/a",
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/a.ipynb"}),
            Edit,
            None,
            "/a.ipynb",
        ),
        (
            "Write",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            Other,
            None,
            "src",
        ),
        ("TodoWrite", json!({"todos": []}), Other, None, ""),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn tools_of_mcp_servers_are_known_by_their_names_and_fields() {
    use ToolKind::{Edit, Other, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "mcp__fs__write_file",
            json!({"path": "/a"}),
            Write,
            None,
            "/a",
        ),
        (
            "mcp__fs__edit_file",
            json!({"path": "/a"}),
            Edit,
            None,
            "/a",
        ),
        (
            "mcp__editor__list",
            json!({"path": "/a"}),
            Other,
            None,
            "/a",
        ),
        ("mcp__fs__read_text", json!({"query": "x"}), Other, None, ""),
        (
            "mcp__box__sh",
            json!({"cmd": "make test"}),
            Shell,
            Some("make test"),
            "",
        ),
        ("mcp__box__run", json!({"id": 3}), Other, None, ""),
        (
            "mcp__sh__exec",
            json!({"command": "ls"}),
            Shell,
            Some("ls"),
            "",
        ),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    for (command, text, expected) in [
        ("make", "Exit code 2\nboom", "err"),
        ("make", "Error: Exit code 2\nboom", "err"),
        ("cat log", "ok\nExit code 2\nError", "ok"),
        ("grep x y", "Exit code 1", "ok"),
        ("grep x y", "Exit code 2\ngrep: y: No such file", "err"),
    ] {
        ended(&TOOLS, command, text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    for (payload, expected) in [
        (
            after(json!({"stdout": "hi", "stderr": "", "interrupted": false})),
            "ok",
        ),
        (after(json!({"stdout": "", "interrupted": true})), "no"),
        (
            after(json!({"stdout": "", "backgroundTaskId": "b1"})),
            "run",
        ),
        (
            after(json!([{"type": "text", "text": "Exit code 2"}])),
            "ok",
        ),
        (
            json!({"error": "Exit code 2\nls: cannot access", "is_interrupt": false}),
            "err",
        ),
        (
            json!({"error": "Exit code 137", "is_interrupt": true}),
            "no",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
