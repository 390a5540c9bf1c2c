//! The DeepSeek Harness. Its transcripts are compressed, and are not read: its plugin tells all that they hold.

use std::sync::LazyLock;

use journal::Agent;
use serde_json::Value;

use super::opencode::OPENCODE;
use crate::adapter::{Adapter, DEFAULT, Variables};
use crate::known::{Known, known};
use crate::tools::{ResultText, Tools, flag, plain};

/// Its plugin calls hooks by Claude Code's names.
pub(super) const DSH: Adapter = Adapter {
    agent: Agent::Dsh,
    program: "dsh",
    event: OPENCODE.event,
    variables: Variables::session("DSH_SESSION_ID"),
    tools: &TOOLS,
    hears_start: false,
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("dsh");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    // A command that failed is no error of its tool. One that a signal ended has no exit code.
    response: |_, response| {
        let exit_code = response.get("exitCode").and_then(Value::as_i64);
        let is = |kind| response.get("kind").and_then(Value::as_str) == Some(kind);
        let is_cut = exit_code.is_none() && is("foreground");
        ResultText {
            is_error: (is_cut || flag(response) == Some(true)).then_some(true),
            exit_code,
            running: is("background"),
            text: plain(response),
            ..ResultText::default()
        }
    },
    ..Tools::PLAIN
};
