//! Claude Code's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, flag, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["Bash", "PowerShell"]),
        (ToolKind::Read, &["Read", "NotebookRead"]),
        (ToolKind::Edit, &["Edit", "MultiEdit", "NotebookEdit"]),
        (ToolKind::Write, &["Write"]),
        (
            ToolKind::Other,
            &[
                "Grep",
                "Glob",
                "LS",
                "Agent",
                "Task",
                "BashOutput",
                "KillShell",
                "KillBash",
                "TodoWrite",
                "TaskOutput",
                "TaskCreate",
                "TaskUpdate",
                "WebFetch",
                "WebSearch",
            ],
        ),
    ],
    subagent: None,
    response,
    frame,
    refusals: &[
        "PreToolUse:",
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action right now",
        "Permission to use ",
        "Claude requested permissions to ",
        "[Request interrupted by user",
        "Interrupted by user",
    ],
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        // A failing call has an event of its own.
        is_error: flag(response).or(Some(false)),
        refused: response.get("interrupted").and_then(Value::as_bool) == Some(true),
        running: response
            .get("backgroundTaskId")
            .is_some_and(Value::is_string),
        text: plain(response),
        ..ResultText::default()
    }
}

/// The first line is `Exit code N` if a command failed.
fn frame(result: &ResultText<'_>) -> Frame {
    let line = result.text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    Frame {
        code: line
            .strip_prefix("Exit code ")
            .and_then(|code| code.trim().parse().ok()),
        ..Frame::default()
    }
}
