//! Kimi Code's tools.

use journal::ToolKind;
use serde_json::Value;

use crate::tools::{Frame, ResultText, Tools, plain};

pub(super) const TOOLS: Tools = Tools {
    kinds: &[
        (ToolKind::Shell, &["Bash"]),
        (ToolKind::Read, &["Read", "ReadMediaFile"]),
        (ToolKind::Edit, &["Edit"]),
        (ToolKind::Write, &["Write"]),
        (
            ToolKind::Other,
            &[
                "Grep",
                "Glob",
                "Agent",
                "AgentSwarm",
                "TodoList",
                "FetchURL",
                "WebSearch",
                "Skill",
                "AskUserQuestion",
                "ExitPlanMode",
                "TaskList",
                "TaskOutput",
                "TaskStop",
            ],
        ),
    ],
    subagent: None,
    response,
    frame,
    task_end: |_| None,
    refusals: &["Aborted by the user", "Interrupted by user"],
};

fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    ResultText {
        // A failing call has an event of its own.
        is_error: Some(false),
        text: plain(response),
        ..ResultText::default()
    }
}

/// The last line of the result of a command that failed is `Command failed with exit code: 1.`.
fn frame(result: &ResultText<'_>) -> Frame {
    let last = result
        .text
        .trim_end()
        .lines()
        .next_back()
        .unwrap_or_default();
    let code = last
        .strip_prefix("Command failed with exit code: ")
        .and_then(|rest| rest.strip_suffix('.'));
    Frame {
        code: code.and_then(|code| code.trim().parse().ok()),
        ..Frame::default()
    }
}
