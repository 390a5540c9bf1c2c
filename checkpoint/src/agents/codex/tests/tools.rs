//! What the agent's tools do, and how their calls end.

use journal::ToolKind;
use serde_json::{Value, json};

use super::super::tools::TOOLS;
use crate::tools::tests::{described, ended, ended_by_hook};

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Shell, Write};
    let add = "*** Begin Patch\n*** Add File: n.txt\n+a\n*** End Patch\n";
    let update = "*** Begin Patch\n*** Update File: n.txt\n@@\n-a\n+b\n*** End Patch\n";
    let heredoc = format!("apply_patch <<'EOF'\n{update}EOF");
    for (tool, input, kind, command, paths) in [
        (
            "Bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "exec_command",
            json!({"cmd": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "shell",
            json!({"command": ["bash", "-lc", "echo hi"]}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "shell",
            json!({"command": ["git", "log", "a b"]}),
            Shell,
            Some("git log 'a b'"),
            "",
        ),
        (
            "local_shell",
            json!({"command": ["/bin/zsh", "-c", "ls"]}),
            Shell,
            Some("ls"),
            "",
        ),
        ("apply_patch", json!(add), Write, None, "n.txt"),
        (
            "apply_patch",
            json!({"command": update}),
            Edit,
            None,
            "n.txt",
        ),
        ("apply_patch", json!({"input": update}), Edit, None, "n.txt"),
        (
            "Bash",
            json!({"command": heredoc}),
            Edit,
            Some(heredoc.as_str()),
            "n.txt",
        ),
        ("update_plan", json!({"plan": []}), Other, None, ""),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "x"}),
            Other,
            None,
            "",
        ),
    ] {
        described(&TOOLS, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    for (command, text, expected) in [
        (
            "make",
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom",
            "err",
        ),
        (
            "make",
            "Exit code: 2\nWall time: 0 seconds\nOutput:\nboom",
            "err",
        ),
        (
            "make",
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 2",
            "ok",
        ),
        (
            "make",
            "{\"output\":\"boom\",\"metadata\":{\"exit_code\":2}}",
            "err",
        ),
        (
            "make",
            "{\"output\":\"fine\",\"metadata\":{\"exit_code\":0}}",
            "ok",
        ),
        ("cat x.json", "{\"broken", "ok"),
        ("cat log", "an error: Process exited with code 2", "ok"),
        (
            "rg x",
            "Wall time: 0 seconds\nProcess exited with code 1\nOutput:\n",
            "ok",
        ),
        (
            "sleep 99",
            "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n",
            "run",
        ),
        ("x", "apply_patch verification failed: no such file", "err"),
        ("x", "exec command rejected by user", "no"),
        (
            "x",
            "Command blocked by PreToolUse hook: R. Command: x",
            "no",
        ),
    ] {
        ended(&TOOLS, command, text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    let printed = after(json!("Exit code: 2\nOutput:\nprinted by the program"));
    ended_by_hook(&TOOLS, ToolKind::Shell, &printed, "ok");
    for (text, expected) in [
        (
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
            "ok",
        ),
        (
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed.",
            "err",
        ),
    ] {
        ended_by_hook(&TOOLS, ToolKind::Edit, &after(json!(text)), expected);
    }
}
