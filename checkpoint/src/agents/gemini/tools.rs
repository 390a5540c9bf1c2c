//! Gemini CLI's tools.

use std::borrow::Cow;

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, flag, plain};

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
    frame,
    task_end: |_| None,
    refusals: &[
        "Tool execution blocked:",
        "Tool execution denied",
        "[Operation Cancelled]",
    ],
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

/// Lines with `Exit Code: N` or `Signal: N` come after the output, which `display` holds alone.
fn frame(result: &ResultText<'_>) -> Frame {
    let text = result.text.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text);
    let body = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
    let after_output = result
        .display
        .as_deref()
        .filter(|display| !display.is_empty())
        .and_then(|display| {
            body.strip_prefix("Output: ")?
                .strip_prefix(display)
                .filter(|rest| rest.starts_with('\n'))
        });
    let keys = [
        "Process Group PGID: ",
        "Background PIDs: ",
        "Signal: ",
        "Exit Code: ",
        "Error: ",
    ];
    let mut frame = Frame::default();
    for line in after_output
        .unwrap_or(body)
        .lines()
        .rev()
        .filter(|line| !line.is_empty())
    {
        if let Some(code) = line.strip_prefix("Exit Code: ") {
            frame.code = code.trim().parse().ok();
            break;
        }
        if let Some(signal) = line.strip_prefix("Signal: ") {
            frame.failed |= !signal.starts_with("(none)");
        } else if !keys.iter().any(|key| line.starts_with(key)) {
            break;
        }
    }
    frame
}
