//! Qwen Code's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::labeled;
use crate::tools::{ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["run_shell_command"]),
        (ToolKind::Read, &["read_file", "read_many_files"]),
        (ToolKind::Edit, &["edit", "notebook_edit"]),
        (ToolKind::Write, &["write_file"]),
        (
            ToolKind::Other,
            &[
                "list_directory",
                "glob",
                "grep_search",
                "save_memory",
                "todo_write",
                "web_fetch",
                "web_search",
                "agent",
                "skill",
                "lsp",
                "task_create",
                "task_update",
                "task_list",
                "task_stop",
                "ask_user_question",
                "exit_plan_mode",
                "tool_search",
            ],
        ),
    ],
    subagent: None,
    response,
    frame: labeled::frame,
    task_end: |_| None,
    refusals: &[
        "Tool execution blocked:",
        "Tool execution denied",
        "[Operation Cancelled]",
    ],
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        // A failing call has an event of its own.
        is_error: Some(false),
        text: plain(response.get("llmContent").unwrap_or(response)),
        ..ResultText::default()
    }
}
