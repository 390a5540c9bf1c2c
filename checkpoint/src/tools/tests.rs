//! What the tools of each host do.

use journal::{Agent, ToolCall, ToolKind};
use serde_json::json;

use super::*;

#[test]
fn every_known_tool_is_described() {
    use Agent::{Claude, Codex, Gemini};
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let add = "*** Begin Patch\n*** Add File: n.txt\n+a\n*** End Patch\n";
    let update = "*** Begin Patch\n*** Update File: n.txt\n@@\n-a\n+b\n*** End Patch\n";
    let heredoc = format!("apply_patch <<'EOF'\n{update}EOF");
    let cases = [
        (Claude, "Bash", json!({"command": "echo hi", "description": "x"}), Shell, Some("echo hi"), vec![]),
        (Claude, "Read", json!({"file_path": "/a"}), Read, None, vec!["/a"]),
        (Claude, "Edit", json!({"file_path": "/a", "old_string": "x"}), Edit, None, vec!["/a"]),
        (Claude, "MultiEdit", json!({"file_path": "/a", "edits": []}), Edit, None, vec!["/a"]),
        (Claude, "NotebookEdit", json!({"notebook_path": "/a.ipynb"}), Edit, None, vec!["/a.ipynb"]),
        (Claude, "Write", json!({"file_path": "/a", "content": "x"}), Write, None, vec!["/a"]),
        (Claude, "Grep", json!({"pattern": "x", "path": "src"}), Other, None, vec!["src"]),
        (Claude, "TodoWrite", json!({"todos": []}), Other, None, vec![]),
        (Claude, "mcp__fs__write_file", json!({"path": "/a"}), Write, None, vec!["/a"]),
        (Claude, "mcp__fs__edit_file", json!({"path": "/a"}), Edit, None, vec!["/a"]),
        (Claude, "mcp__editor__list", json!({"path": "/a"}), Other, None, vec!["/a"]),
        (Claude, "mcp__fs__read_text", json!({"query": "x"}), Other, None, vec![]),
        (Claude, "mcp__sh__exec", json!({"command": "ls"}), Shell, Some("ls"), vec![]),
        (Gemini, "run_shell_command", json!({"command": "echo hi"}), Shell, Some("echo hi"), vec![]),
        (Gemini, "read_file", json!({"file_path": "/a"}), Read, None, vec!["/a"]),
        (Gemini, "read_file", json!({"absolute_path": "/a"}), Read, None, vec!["/a"]),
        (Gemini, "read_many_files", json!({"paths": ["a", "b"]}), Read, None, vec!["a", "b"]),
        (Gemini, "replace", json!({"file_path": "/a"}), Edit, None, vec!["/a"]),
        (Gemini, "write_file", json!({"file_path": "/a"}), Write, None, vec!["/a"]),
        (Codex, "Bash", json!({"command": "echo hi"}), Shell, Some("echo hi"), vec![]),
        (Codex, "exec_command", json!({"cmd": "echo hi"}), Shell, Some("echo hi"), vec![]),
        (Codex, "shell", json!({"command": ["bash", "-lc", "echo hi"]}), Shell, Some("echo hi"), vec![]),
        (Codex, "shell", json!({"command": ["git", "log", "a b"]}), Shell, Some("git log 'a b'"), vec![]),
        (Codex, "local_shell", json!({"command": ["/bin/zsh", "-c", "ls"]}), Shell, Some("ls"), vec![]),
        (Codex, "apply_patch", json!(add), Write, None, vec!["n.txt"]),
        (Codex, "apply_patch", json!({"command": update}), Edit, None, vec!["n.txt"]),
        (Codex, "apply_patch", json!({"input": update}), Edit, None, vec!["n.txt"]),
        (Codex, "Bash", json!({"command": heredoc}), Edit, Some(heredoc.as_str()), vec!["n.txt"]),
        (Codex, "update_plan", json!({"plan": []}), Other, None, vec![]),
        (Codex, "write_stdin", json!({"session_id": 1, "chars": "x"}), Other, None, vec![]),
    ];
    for (agent, tool, input, kind, command, paths) in cases {
        let expected = (kind, command.map(str::to_owned), paths.into_iter().map(str::to_owned).collect());
        assert_eq!(describe(agent, tool, &input), expected, "{agent} {tool}");
    }
}

#[test]
fn odd_inputs_are_bounded_and_do_no_harm() {
    for input in [json!(null), json!(1), json!([]), json!({"command": 1, "cmd": {}, "file_path": []}), json!("x")] {
        for agent in Agent::HOSTS {
            for tool in ["Bash", "Read", "apply_patch", "run_shell_command", "exec_command", "", "x__", "mcp__a__exec"]
            {
                describe(agent, tool, &input);
            }
        }
    }
    let (_, command, _) = describe(Agent::Claude, "Bash", &json!({"command": "é".repeat(ToolCall::COMMAND_BYTES_MAX)}));
    assert_eq!(command.expect("a command").len(), ToolCall::COMMAND_BYTES_MAX);
    let many: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let (_, _, paths) = describe(Agent::Gemini, "read_many_files", &json!({"paths": many}));
    assert_eq!(paths.len(), ToolCall::PATHS_MAX);
}
