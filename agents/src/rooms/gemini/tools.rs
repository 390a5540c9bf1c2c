//! Gemini CLI's tools.

use std::borrow::Cow;

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{ResultText, Tools, flag, labeled, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["run_shell_command"]),
        (ToolKind::Read, &["read_file", "read_many_files"]),
        (ToolKind::Edit, &["replace", "edit"]),
        (ToolKind::Write, &["write_file"]),
        (
            ToolKind::Other,
            &[
                "list_directory",
                "glob",
                "search_file_content",
                "grep_search",
                "save_memory",
                "write_todos",
                "web_fetch",
                "google_web_search",
            ],
        ),
    ],
    subagent: Some("invoke_agent"),
    response,
    frame: labeled::frame,
    refusals: &[
        "Tool execution blocked:",
        "Tool execution denied",
        "[Operation Cancelled]",
    ],
    ..Tools::PLAIN
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let error = response.get("error").filter(|error| !error.is_null());
    ResultText {
        is_error: error.map(|_| true).or_else(|| flag(response)),
        text: plain(
            error
                .or_else(|| response.get("llmContent"))
                .unwrap_or(response),
        ),
        display: response
            .get("returnDisplay")
            .and_then(Value::as_str)
            .map(Cow::Borrowed),
        ..ResultText::default()
    }
}
