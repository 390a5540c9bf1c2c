//! Codex CLI's tools.

use std::borrow::Cow;
use std::sync::LazyLock;

use journal::ToolKind;
use serde_json::Value;

use crate::known::{Known, known};
use crate::tools::{Frame, ResultText, Tools, begins_with, flag, plain};

pub(super) static KNOWN: LazyLock<Known> = known!("codex");

pub(super) const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    frame,
    task_end: |result| {
        let code = result.exit_code.or_else(|| frame(result).code);
        code.map(|code| code != 0)
    },
};

/// A hook call does not say how a shell command ended; the transcript does.
fn response(kind: ToolKind, response: &Value) -> ResultText<'_> {
    let is_error = flag(response);
    let code = response.get("exit_code");
    let code = code.or_else(|| response.pointer("/metadata/exit_code"));
    let exit_code = code.and_then(Value::as_i64);
    ResultText {
        is_error,
        exit_code,
        running: kind == ToolKind::Shell && is_error.is_none() && exit_code.is_none(),
        // For a shell call this is the program's output and nothing else.
        text: if kind == ToolKind::Shell {
            Cow::Borrowed("")
        } else {
            plain(response)
        },
        ..ResultText::default()
    }
}

/// A few `Key: value` lines come before `Output:`; older versions write a JSON object instead.
fn frame(result: &ResultText<'_>) -> Frame {
    let text = &*result.text;
    let mut frame = Frame::default();
    if text.starts_with('{') {
        let code = serde_json::from_str::<Value>(text).ok();
        frame.code =
            code.and_then(|value| value.pointer("/metadata/exit_code").and_then(Value::as_i64));
        return frame;
    }
    for line in text.lines().take_while(|line| *line != "Output:").take(8) {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "));
        if let Some(code) = code {
            frame.code = code.trim().parse().ok();
        } else if line.starts_with("Process running with session ID ") {
            frame.running = true;
        } else if ![
            "Chunk ID: ",
            "Wall time: ",
            "Original token count: ",
            "Total output lines: ",
        ]
        .iter()
        .any(|key| line.starts_with(key))
        {
            // Not a header, so there is no framing.
            break;
        }
    }
    frame.failed = frame.code.is_none() && begins_with(text, &KNOWN.refusals);
    frame
}

/// Returns the id of the command that continues in the background, by the lines before the output.
pub(super) fn session_in(text: &str) -> Option<&str> {
    let mut head = text.lines().take_while(|line| *line != "Output:").take(8);
    let id = head.find_map(|line| line.strip_prefix("Process running with session ID "))?;
    Some(id.trim())
}
