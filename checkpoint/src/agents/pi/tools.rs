//! Pi's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, flag, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["bash"]),
        (ToolKind::Read, &["read"]),
        (ToolKind::Edit, &["edit"]),
        (ToolKind::Write, &["write"]),
        (ToolKind::Other, &["grep", "find", "ls"]),
    ],
    subagent: None,
    response,
    frame,
    task_end: |_| None,
    refusals: &["Command aborted", "Operation aborted"],
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        is_error: Some(flag(response) == Some(true)),
        text: plain(response),
        ..ResultText::default()
    }
}

/// The last line of the result of a command that failed is `Command exited with code 1`.
fn frame(result: &ResultText<'_>) -> Frame {
    let last = result
        .text
        .trim_end()
        .lines()
        .next_back()
        .unwrap_or_default();
    let code = last.strip_prefix("Command exited with code ");
    Frame {
        code: code.and_then(|code| code.trim().parse().ok()),
        ..Frame::default()
    }
}
