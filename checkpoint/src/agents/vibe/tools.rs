//! Vibe's tools, as its hooks name them: group and tool.

use std::borrow::Cow;

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["file_system.bash"]),
        (ToolKind::Read, &["file_system.read_file"]),
        (ToolKind::Edit, &["file_system.search_replace"]),
        (ToolKind::Write, &["file_system.write_file"]),
        (ToolKind::Other, &["vibe.todo", "vibe.skill"]),
    ],
    subagent: None,
    response,
    frame: |_| Frame::default(),
    task_end: |_| None,
    refusals: &["Tool execution denied by"],
};

/// A failed command is a success with a `returncode`. Other failures have no output, but an error.
pub(super) fn response(kind: ToolKind, response: &Value) -> ResultText<'_> {
    let stream = |name: &str| {
        response
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let text = match kind {
        ToolKind::Shell => match (stream("stdout"), stream("stderr")) {
            (out, "") => Cow::Borrowed(out),
            ("", err) => Cow::Borrowed(err),
            (out, err) => format!("{}\n{err}", out.trim_end_matches('\n')).into(),
        },
        _ => plain(response),
    };
    ResultText {
        is_error: (kind != ToolKind::Shell).then_some(false),
        exit_code: response.get("returncode").and_then(Value::as_i64),
        text,
        ..ResultText::default()
    }
}
