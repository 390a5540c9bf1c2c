//! Copilot's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["bash", "powershell"]),
        (ToolKind::Read, &["view"]),
        (ToolKind::Edit, &["edit"]),
        (ToolKind::Write, &["create"]),
        (
            ToolKind::Other,
            &[
                "read_bash",
                "write_bash",
                "stop_bash",
                "list_bash",
                "grep",
                "glob",
                "task",
                "sql",
                "skill",
                "web_fetch",
                "ask_user",
                "report_intent",
            ],
        ),
    ],
    subagent: Some("task"),
    response,
    frame,
    task_end: |_| None,
    refusals: &[
        "Denied by preToolUse hook",
        "The user rejected this tool call",
        "The tool call required approval from the user",
    ],
};

/// A failed command is reported as a success. Only the last line has its exit code.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let kind = response.get("resultType").and_then(Value::as_str);
    ResultText {
        is_error: (kind == Some("failure")).then_some(true),
        refused: matches!(kind, Some("rejected" | "denied")),
        text: plain(response.get("textResultForLlm").unwrap_or(response)),
        ..ResultText::default()
    }
}

/// The last line is `<shellId: 0 completed with exit code 1>`.
fn frame(result: &ResultText<'_>) -> Frame {
    let last = result
        .text
        .trim_end()
        .lines()
        .next_back()
        .unwrap_or_default();
    let inside = last
        .strip_prefix("<shellId: ")
        .and_then(|rest| rest.strip_suffix('>'));
    let code = inside.and_then(|inside| inside.split_once(" completed with exit code "));
    Frame {
        code: code.and_then(|(_, code)| code.trim().parse().ok()),
        running: inside.is_some() && code.is_none(),
        ..Frame::default()
    }
}
