//! Agents that the user's configuration describes. Their hooks are called as Claude Code calls its own, or nearly so.
//! Their screens are not known. The configuration names their programs and their transcripts.

use journal::ToolKind;
use serde_json::Value;

use super::adapter::{Adapter, DEFAULT};
use super::claude::CLAUDE;
use crate::config::{DescribedAgent, UsualTool};
use crate::hooks::common;
use crate::hooks::payload::Fields;
use crate::tools::{Frame, ResultText, Tools, flag, plain};

pub(super) const CONFIGURED: Adapter = Adapter {
    fields: |_| &FIELDS,
    event: common::event_or_notification,
    notifications: CLAUDE.notifications,
    task_returns: CLAUDE.task_returns,
    texts: CLAUDE.texts,
    tools: &TOOLS,
    forward: CLAUDE.forward,
    ..DEFAULT
};

const FIELDS: Fields = Fields {
    turn: &["prompt_id"],
    ..common::FIELDS
};

/// Gives the fields and the tools of a payload the names that Claude Code has for them, so that what is journaled can be
/// read without the configuration.
pub(crate) fn translate(described: &DescribedAgent, payload: &mut Value) {
    let Some(fields) = payload.as_object_mut() else {
        return;
    };
    for (usual, own) in &described.fields {
        if let Some(value) = fields.remove(&own.0) {
            fields.insert(usual.word().to_owned(), value);
        }
    }
    if let Some(Value::String(tool)) = fields.get_mut("tool_name") {
        let mut known = described.tools.iter();
        if let Some((usual, _)) = known.find(|(_, names)| names.iter().any(|name| name.0 == *tool))
        {
            *tool = name(*usual).to_owned();
        }
    }
}

/// Claude Code's names. The form of their results is unknown, so each plain sign of a failure counts.
const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["Bash"]),
        (ToolKind::Read, &["Read"]),
        (ToolKind::Edit, &["Edit", "MultiEdit", "NotebookEdit"]),
        (ToolKind::Write, &["Write"]),
        (
            ToolKind::Other,
            &[
                "Grep",
                "Glob",
                "LS",
                "Task",
                "TodoWrite",
                "WebFetch",
                "WebSearch",
            ],
        ),
    ],
    response,
    frame: Frame::of_first_line,
    refusals: &[],
    ..Tools::PLAIN
};

/// Returns the name under which the tools that do this are journaled.
const fn name(tool: UsualTool) -> &'static str {
    match tool {
        UsualTool::Shell => "Bash",
        UsualTool::Read => "Read",
        UsualTool::Edit => "Edit",
        UsualTool::Write => "Write",
    }
}

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let codes = ["exit_code", "exitCode", "returncode"];
    let number = |key: &&str| response.get(*key).and_then(Value::as_i64);
    let succeeded = response.get("success").and_then(Value::as_bool);
    ResultText {
        is_error: flag(response).or(succeeded.map(|it| !it)),
        exit_code: codes.iter().find_map(number),
        refused: response.get("interrupted").and_then(Value::as_bool) == Some(true),
        text: plain(response),
        ..ResultText::default()
    }
}
