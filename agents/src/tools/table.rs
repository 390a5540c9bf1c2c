//! What is particular to one agent's tools.

use std::borrow::Cow;

use journal::ToolKind;
use serde_json::Value;

use crate::known::Known;

/// An agent's tools: their names, and how their results are framed.
#[derive(Debug)]
pub struct Tools {
    /// Their names, and openings of their results.
    pub known: fn() -> &'static Known,
    /// Reads the `tool_response` of a hook call.
    pub response: for<'a> fn(ToolKind, &'a Value) -> ResultText<'a>,
    /// Reads the agent's framing of a result.
    pub frame: fn(&ResultText<'_>) -> Frame,
    /// Reads from a result how the command in the background ended whose output it holds: whether it failed.
    pub task_end: fn(&ResultText<'_>) -> Option<bool>,
}

impl Tools {
    /// Returns whether a tool is one that the agent itself has.
    pub fn has(&self, tool: &str) -> bool {
        self.kind(tool).is_some()
    }

    /// Returns the kind of a tool that the agent itself has.
    pub(super) fn kind(&self, tool: &str) -> Option<ToolKind> {
        let mut known = (self.known)().tools.iter();
        let (kind, _) = known.find(|(_, names)| names.iter().any(|name| name == tool))?;
        Some(*kind)
    }
}

/// The result of a tool call in the agent's own terms.
#[derive(Clone, Debug, Default)]
pub struct ResultText<'a> {
    /// The agent's own flag, if it has one that can be believed.
    pub is_error: Option<bool>,
    /// The exit code, if the agent has a field for it.
    pub exit_code: Option<i64>,
    /// The call was refused or cancelled.
    pub refused: bool,
    /// The call continues in the background, or nothing says how it ended.
    pub running: bool,
    /// The agent's id of the command that continues in the background.
    pub task: Option<Cow<'a, str>>,
    /// The result as the model got it, the agent's framing included.
    pub text: Cow<'a, str>,
    /// The result as a person saw it, without the framing (Gemini).
    pub display: Option<Cow<'a, str>>,
    /// What the agent says of the subagent that the call started or spoke to.
    pub subagent: Option<Reported<'a>>,
}

impl<'a> ResultText<'a> {
    /// Returns a result of which nothing else is known.
    pub(crate) fn of(is_error: Option<bool>, text: Cow<'a, str>) -> Self {
        Self {
            is_error,
            text,
            ..Self::default()
        }
    }
}

/// What an agent says of a subagent besides its report.
#[derive(Clone, Debug, Default)]
pub struct Reported<'a> {
    /// The agent's id of it.
    pub id: Option<Cow<'a, str>>,
    /// How many tools it used.
    pub calls: Option<u64>,
    /// It goes on in the background, so this is not its report.
    pub continues: bool,
}

/// What the framing of a result says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// The exit code.
    pub code: Option<i64>,
    /// The call continues in the background.
    pub running: bool,
    /// The call failed, whatever its exit code.
    pub failed: bool,
}

impl Frame {
    /// Reads a last line with a number between two texts, as agents write it if a command failed.
    pub(crate) fn of_last_line(result: &ResultText<'_>, before: &str, after: &str) -> Self {
        let last = result.text.trim_end().lines().next_back();
        let code = last.and_then(|line| line.strip_prefix(before)?.strip_suffix(after));
        Self {
            code: code.and_then(|code| code.trim().parse().ok()),
            ..Self::default()
        }
    }

    /// Reads a first line that is `Exit code N`, as Claude Code writes it if a command failed.
    pub(crate) fn of_first_line(result: &ResultText<'_>) -> Self {
        let line = result.text.lines().next().unwrap_or_default();
        let line = line.strip_prefix("Error: ").unwrap_or(line);
        let code = line.strip_prefix("Exit code ");
        Self {
            code: code.and_then(|code| code.trim().parse().ok()),
            ..Self::default()
        }
    }
}
