//! Agents that the user's configuration describes. Their hooks are called as Claude Code calls its own, or nearly so.
//! Their screens are not known. The configuration names their programs and their transcripts.

use std::sync::LazyLock;

use journal::ToolKind;
use serde_json::Value;

use super::claude::CLAUDE;
use crate::adapter::{Adapter, DEFAULT};
use crate::hooks::common;
use crate::known::{Fields, Known, known};
use crate::tools::{Frame, ResultText, Tools, code_in, flag, plain};

pub(super) const CONFIGURED: Adapter = Adapter {
    event: common::event_or_notification,
    notifications: CLAUDE.notifications,
    task_returns: CLAUDE.task_returns,
    peel: CLAUDE.peel,
    tools: &TOOLS,
    forward: CLAUDE.forward,
    ..DEFAULT
};

/// A person's own runs: each says where it was made.
pub(super) const PERSON: Adapter = Adapter {
    fields: Some(|_| &OF_PERSON),
    ..CONFIGURED
};

static OF_PERSON: LazyLock<Fields> = LazyLock::new(|| Fields {
    frequent: Vec::new(),
    ..Fields::default()
});

static KNOWN: LazyLock<Known> = known!("configured");

/// Claude Code's names. The form of their results is unknown, so each plain sign of a failure counts.
const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    frame: Frame::of_first_line,
    ..Tools::PLAIN
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let succeeded = response.get("success").and_then(Value::as_bool);
    ResultText {
        is_error: flag(response).or(succeeded.map(|it| !it)),
        exit_code: code_in(response),
        refused: response.get("interrupted").and_then(Value::as_bool) == Some(true),
        text: plain(response),
        ..ResultText::default()
    }
}
