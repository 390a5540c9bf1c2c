//! Tools by Claude Code's names. The form of their results is unknown, so each plain sign of a failure counts.

use journal::ToolKind;
use serde_json::Value;

use crate::config::UsualTool;
use crate::tools::{Frame, ResultText, Tools, flag, plain};

pub(super) const TOOLS: Tools = Tools {
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
    subagent: None,
    response,
    frame: Frame::of_first_line,
    task_end: |_| None,
    refusals: &[],
};

/// Returns the name under which the tools that do this are journaled.
pub(super) const fn name(tool: UsualTool) -> &'static str {
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
