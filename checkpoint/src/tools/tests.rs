//! What the tools of each agent do.

use journal::{Agent, ToolCall, ToolKind};
use serde_json::json;

use super::*;
use crate::agents::adapter;

#[test]
fn every_known_tool_is_described() {
    use Agent::{Claude, Codex, Gemini};
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let add = "*** Begin Patch\n*** Add File: n.txt\n+a\n*** End Patch\n";
    let update = "*** Begin Patch\n*** Update File: n.txt\n@@\n-a\n+b\n*** End Patch\n";
    let heredoc = format!("apply_patch <<'EOF'\n{update}EOF");
    let cases = [
        (
            Claude,
            "Bash",
            json!({"command": "echo hi", "description": "x"}),
            Shell,
            Some("echo hi"),
            vec![],
        ),
        (
            Claude,
            "Read",
            json!({"file_path": "/a"}),
            Read,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "Edit",
            json!({"file_path": "/a", "old_string": "x"}),
            Edit,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "MultiEdit",
            json!({"file_path": "/a", "edits": []}),
            Edit,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "NotebookEdit",
            json!({"notebook_path": "/a.ipynb"}),
            Edit,
            None,
            vec!["/a.ipynb"],
        ),
        (
            Claude,
            "Write",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            Other,
            None,
            vec!["src"],
        ),
        (
            Claude,
            "TodoWrite",
            json!({"todos": []}),
            Other,
            None,
            vec![],
        ),
        (
            Claude,
            "mcp__fs__write_file",
            json!({"path": "/a"}),
            Write,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "mcp__fs__edit_file",
            json!({"path": "/a"}),
            Edit,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "mcp__editor__list",
            json!({"path": "/a"}),
            Other,
            None,
            vec!["/a"],
        ),
        (
            Claude,
            "mcp__fs__read_text",
            json!({"query": "x"}),
            Other,
            None,
            vec![],
        ),
        (
            Claude,
            "mcp__sh__exec",
            json!({"command": "ls"}),
            Shell,
            Some("ls"),
            vec![],
        ),
        (
            Gemini,
            "run_shell_command",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            vec![],
        ),
        (
            Gemini,
            "read_file",
            json!({"file_path": "/a"}),
            Read,
            None,
            vec!["/a"],
        ),
        (
            Gemini,
            "read_file",
            json!({"absolute_path": "/a"}),
            Read,
            None,
            vec!["/a"],
        ),
        (
            Gemini,
            "read_many_files",
            json!({"paths": ["a", "b"]}),
            Read,
            None,
            vec!["a", "b"],
        ),
        (
            Gemini,
            "replace",
            json!({"file_path": "/a"}),
            Edit,
            None,
            vec!["/a"],
        ),
        (
            Gemini,
            "write_file",
            json!({"file_path": "/a"}),
            Write,
            None,
            vec!["/a"],
        ),
        (
            Codex,
            "Bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            vec![],
        ),
        (
            Codex,
            "exec_command",
            json!({"cmd": "echo hi"}),
            Shell,
            Some("echo hi"),
            vec![],
        ),
        (
            Codex,
            "shell",
            json!({"command": ["bash", "-lc", "echo hi"]}),
            Shell,
            Some("echo hi"),
            vec![],
        ),
        (
            Codex,
            "shell",
            json!({"command": ["git", "log", "a b"]}),
            Shell,
            Some("git log 'a b'"),
            vec![],
        ),
        (
            Codex,
            "local_shell",
            json!({"command": ["/bin/zsh", "-c", "ls"]}),
            Shell,
            Some("ls"),
            vec![],
        ),
        (Codex, "apply_patch", json!(add), Write, None, vec!["n.txt"]),
        (
            Codex,
            "apply_patch",
            json!({"command": update}),
            Edit,
            None,
            vec!["n.txt"],
        ),
        (
            Codex,
            "apply_patch",
            json!({"input": update}),
            Edit,
            None,
            vec!["n.txt"],
        ),
        (
            Codex,
            "Bash",
            json!({"command": heredoc}),
            Edit,
            Some(heredoc.as_str()),
            vec!["n.txt"],
        ),
        (
            Codex,
            "update_plan",
            json!({"plan": []}),
            Other,
            None,
            vec![],
        ),
        (
            Codex,
            "write_stdin",
            json!({"session_id": 1, "chars": "x"}),
            Other,
            None,
            vec![],
        ),
    ];
    for (agent, tool, input, kind, command, paths) in cases {
        let expected = (
            kind,
            command.map(str::to_owned),
            paths.into_iter().map(str::to_owned).collect(),
        );
        let tools = adapter(agent).expect("an agent").tools();
        assert_eq!(tools.describe(tool, &input), expected, "{agent} {tool}");
    }
}

#[test]
fn what_is_known_of_a_call_is_bounded() {
    let output = format!("Exit code 1\n{}the end", "é".repeat(9_000));
    let mut call = ToolCall {
        command: Some("é".repeat(ToolCall::COMMAND_BYTES_MAX)),
        paths: vec!["a".to_owned(); ToolCall::PATHS_MAX + 1],
        output,
        ..ToolCall::default()
    };
    bound(&mut call);
    assert_eq!(
        call.command.map(|command| command.len()),
        Some(ToolCall::COMMAND_BYTES_MAX)
    );
    assert_eq!(call.paths.len(), ToolCall::PATHS_MAX);
    assert!(call.output.len() <= ToolCall::OUTPUT_BYTES_MAX);
    assert!(call.output.starts_with("Exit code 1\n") && call.output.ends_with("the end"));
}
