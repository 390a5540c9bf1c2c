//! Claude Code's tools.

use std::sync::LazyLock;

use journal::ToolKind;
use serde_json::Value;

use crate::known::{Known, known};
use crate::tools::{Frame, ResultText, Tools, flag, plain};

pub(super) static KNOWN: LazyLock<Known> = known!("claude");

pub(super) const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    frame: Frame::of_first_line,
    task_end: |result| task_end(&result.text),
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        // A failing call has an event of its own.
        is_error: flag(response).or(Some(false)),
        refused: response.get("interrupted").and_then(Value::as_bool) == Some(true),
        running: response["backgroundTaskId"].is_string(),
        text: plain(response),
        ..ResultText::default()
    }
}

/// Returns the text between a tag and its end.
pub(super) fn tagged<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside.trim())
}

/// Reads whether a command in the background failed, from a result or a notice about it; `None` while it runs.
pub(super) fn task_end(text: &str) -> Option<bool> {
    // What comes after is the program's own text.
    let tags = ["<output>", "<stdout>", "<result>"].into_iter();
    let end = tags.filter_map(|tag| text.find(tag)).min();
    let head = end.map_or(text, |end| &text[..end]);
    if let Some(code) = tagged(head, "exit_code") {
        return code.parse::<i64>().ok().map(|code| code != 0);
    }
    let summary = tagged(head, "summary").unwrap_or_default();
    let code = summary.rsplit_once("exit code ").map(|(_, code)| {
        let digits = code.trim_end_matches([')', '.']);
        !matches!(digits.parse::<i64>(), Ok(0))
    });
    match tagged(head, "status")? {
        "completed" => Some(code.unwrap_or(false)),
        "failed" | "killed" | "stopped" => Some(true),
        _ => None,
    }
}
