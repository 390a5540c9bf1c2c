//! opencode's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["bash"]),
        (ToolKind::Read, &["read"]),
        (ToolKind::Edit, &["edit", "multiedit"]),
        (ToolKind::Write, &["write"]),
        (
            ToolKind::Other,
            &[
                "list",
                "grep",
                "glob",
                "task",
                "webfetch",
                "websearch",
                "todowrite",
                "todoread",
                "question",
                "skill",
                "lsp",
            ],
        ),
    ],
    subagent: None,
    response,
    frame: |_| Frame::default(),
    task_end: |_| None,
    refusals: &[
        "The user rejected permission",
        "The user has specified a rule which prevents",
        "Tool execution aborted",
    ],
};

/// The exit code of a command has a field, and the text is the program's own.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        exit_code: response.get("exit").and_then(Value::as_i64),
        text: plain(response),
        ..ResultText::default()
    }
}
