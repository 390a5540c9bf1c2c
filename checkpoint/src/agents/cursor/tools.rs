//! Cursor's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["Shell"]),
        (ToolKind::Read, &["Read"]),
        (ToolKind::Edit, &["Edit", "StrReplace"]),
        (ToolKind::Write, &["Write"]),
        (
            ToolKind::Other,
            &[
                "Delete",
                "Glob",
                "Grep",
                "LS",
                "Task",
                "TodoWrite",
                "WebFetch",
                "WebSearch",
            ],
        ),
    ],
    subagent: Some("Task"),
    response,
    frame: |_| Frame::default(),
    task_end: |_| None,
    refusals: &[],
};

/// The result is a text that holds JSON. Calls that fail have a hook of their own, but a command may end with any code.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let held = response.as_str().map(serde_json::from_str::<Value>);
    let held = held.and_then(Result::ok).filter(Value::is_object);
    let Some(held) = held else {
        return ResultText {
            is_error: Some(false),
            text: plain(response),
            ..ResultText::default()
        };
    };
    let exit_code = held.get("exitCode").and_then(Value::as_i64);
    let texts = ["stdout", "stderr"].map(|key| held.get(key).and_then(Value::as_str));
    let printed: Vec<&str> = texts.into_iter().flatten().collect();
    let text = if printed.is_empty() {
        plain(&held).into_owned()
    } else {
        printed.join("\n")
    };
    ResultText {
        exit_code,
        is_error: exit_code.is_none().then_some(false),
        text: text.into(),
        ..ResultText::default()
    }
}
