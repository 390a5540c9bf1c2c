//! Droid's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["Execute"]),
        (ToolKind::Read, &["Read"]),
        (ToolKind::Edit, &["Edit", "MultiEdit"]),
        (ToolKind::Write, &["Create"]),
        (
            ToolKind::Other,
            &[
                "Grep",
                "Glob",
                "LS",
                "Task",
                "TaskOutput",
                "Skill",
                "TodoWrite",
                "FetchUrl",
                "WebSearch",
                "ToolSearch",
                "AskUser",
                "ExitSpecMode",
            ],
        ),
    ],
    subagent: None,
    response,
    frame,
    task_end: |_| None,
    refusals: &[
        "Tool execution was cancelled",
        "Tool execution cancelled by user",
        "Tool execution denied by hook",
        "Command cancelled by user",
    ],
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        // After a call that failed no hook is called.
        is_error: Some(false),
        text: plain(response),
        ..ResultText::default()
    }
}

/// The last line of a command's result is `[Process exited with code 1]`.
fn frame(result: &ResultText<'_>) -> Frame {
    let last = result
        .text
        .trim_end()
        .lines()
        .next_back()
        .unwrap_or_default();
    let code = last
        .strip_prefix("[Process exited with code ")
        .and_then(|rest| rest.strip_suffix(']'));
    Frame {
        code: code.and_then(|code| code.trim().parse().ok()),
        ..Frame::default()
    }
}
