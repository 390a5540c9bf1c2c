//! Gemini CLI's tools.

use std::borrow::Cow;
use std::sync::LazyLock;

use journal::ToolKind;
use serde_json::Value;

use crate::known::{Known, known};
use crate::tools::{ResultText, Tools, flag, labeled, plain};

pub(super) static KNOWN: LazyLock<Known> = known!("gemini");

pub(super) const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    frame: labeled::frame,
    ..Tools::PLAIN
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let error = response.get("error").filter(|error| !error.is_null());
    let told = error.or_else(|| response.get("llmContent"));
    ResultText {
        is_error: error.map(|_| true).or_else(|| flag(response)),
        text: plain(told.unwrap_or(response)),
        display: response["returnDisplay"].as_str().map(Cow::Borrowed),
        ..ResultText::default()
    }
}
