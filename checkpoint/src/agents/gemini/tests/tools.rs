//! What the agent's tools do, and how their calls end.

use journal::ToolKind;
use serde_json::{Value, json};

use super::super::tools::TOOLS;
use crate::tools::tests::{described, ended, ended_by_hook};

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "run_shell_command",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read_file", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "read_file",
            json!({"absolute_path": "/a"}),
            Read,
            None,
            "/a",
        ),
        (
            "read_many_files",
            json!({"paths": ["a", "b"]}),
            Read,
            None,
            "a b",
        ),
        ("replace", json!({"file_path": "/a"}), Edit, None, "/a"),
        ("write_file", json!({"file_path": "/a"}), Write, None, "/a"),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    let framed = |output: &str, rest: &str| {
        format!(
            "<untrusted_context>\nOutput: {output}\n{rest}Process Group PGID: 1\n</untrusted_context>"
        )
    };
    for (command, text, expected) in [
        ("make", framed("boom", "Exit Code: 2\n"), "err"),
        ("make", framed("Exit Code: 2\nfine", ""), "ok"),
        ("make", framed("boom", "Signal: SIGKILL\n"), "err"),
        ("make", framed("fine", "Signal: 0\n"), "ok"),
        ("make", framed("fine", "Exit Code: 0\nSignal: 0\n"), "ok"),
        ("make", framed("boom", "Exit Code: 2\nSignal: 0\n"), "err"),
        ("make", framed("boom", "Signal: 15\n"), "err"),
        (
            "make",
            "Output: x\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 1"
                .to_owned(),
            "ok",
        ),
        ("rg x", framed("(empty)", "Exit Code: 1\n"), "ok"),
        (
            "make",
            "Stdout: x\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)"
                .to_owned(),
            "ok",
        ),
        (
            "make",
            "Stdout: x\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 1"
                .to_owned(),
            "err",
        ),
    ] {
        ended(&TOOLS, command, &text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    for (payload, expected) in [
        (
            after(
                json!({"llmContent": "Output: x\nExit Code: 2\nProcess Group PGID: 9", "returnDisplay": "x"}),
            ),
            "err",
        ),
        (
            after(
                json!({"llmContent": [{"text": "Output: x\nProcess Group PGID: 9"}], "returnDisplay": [[{"text": "x"}]]}),
            ),
            "ok",
        ),
        (
            after(
                json!({"llmContent": "no", "error": {"message": "File not found: x", "type": "file_not_found"}}),
            ),
            "err",
        ),
        (
            after(json!({"llmContent": "no", "error": {"message": "Tool execution blocked: R"}})),
            "no",
        ),
        (after(json!(null)), "run"),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Shell, &payload, expected);
    }
}
