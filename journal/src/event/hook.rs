//! What hook calls tell, in a normal form: whose, from where, which prompt, which tool call.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The agent a session belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Gemini CLI.
    Gemini,
    /// Codex CLI.
    Codex,
    /// The daemon itself: policies it adopted, payloads it could not read.
    Daemon,
}

impl Agent {
    /// The three agents that hooks come from.
    pub const HOSTS: [Self; 3] = [Self::Claude, Self::Gemini, Self::Codex];

    /// Returns the word used on command lines, in URLs and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Daemon => "daemon",
        }
    }

    /// Returns the host agent that `word` names.
    pub fn host(word: &str) -> Option<Self> {
        Self::HOSTS.into_iter().find(|agent| agent.word() == word)
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// What every hook call says about where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The host's own name of the event, for example `PostToolUse`.
    pub hook: String,
    /// The host's id of the turn (Claude `prompt_id`, Codex `turn_id`); Gemini has none.
    pub turn: Option<String>,
    /// The subagent that the call belongs to, when it is not the main agent's.
    pub subagent: Option<String>,
    /// Where the agent runs; only on the calls that begin or end something.
    pub place: Option<Place>,
}

/// Where an agent runs and how it can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Working directory of the agent.
    pub cwd: String,
    /// The agent's transcript file, as the host names it.
    pub transcript: Option<String>,
    /// Hook-relevant environment variables (TMUX, TMUX_PANE, TMPDIR, project and entrypoint variables), never secrets.
    pub env: Vec<(String, String)>,
}

impl Place {
    /// Returns the value of an environment variable of the hook call, when it was set and not empty.
    pub fn env(&self, name: &str) -> Option<&str> {
        self.env
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }
}

/// Who a prompt came from. Only [`PromptOrigin::User`] begins a turn (spec TURN-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// A person, or a script standing in for one.
    User,
    /// This product: the text carries the canonical prefix.
    Own,
    /// The host: task notifications, hook feedback, reminders, compaction summaries.
    Host,
    /// A subagent of the session.
    Subagent,
}

/// What a tool call does, whatever the host calls the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Runs a shell command.
    Shell,
    /// Changes part of an existing file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Reads a file.
    Read,
    /// Anything else.
    #[default]
    Other,
}

/// One tool call of an agent, in the normal form of all three hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The host's id of the call; Gemini's hooks have none.
    pub id: Option<String>,
    /// The host's name of the tool.
    pub tool: String,
    /// What the call does.
    pub kind: ToolKind,
    /// The command line of a shell call, at most [`ToolCall::COMMAND_BYTES_MAX`] bytes.
    pub command: Option<String>,
    /// The files it touches, as the agent gave them.
    pub paths: Vec<String>,
    /// Whether it failed: the host's flag, or an exit code in the result's text. A refused call is not an error.
    pub is_error: bool,
    /// Whether a person, a policy or a hook refused it, so that it never ran.
    pub refused: bool,
    /// Whether its result has been seen.
    pub finished: bool,
    /// The result's text of a failed call, at most [`ToolCall::OUTPUT_BYTES_MAX`] bytes; empty otherwise.
    pub output: String,
    /// When it began, as far as known.
    pub at: Timestamp,
    /// How long it took, in milliseconds, as far as known.
    pub duration_ms: Option<u64>,
}

impl ToolCall {
    /// The longest command line that is kept.
    pub const COMMAND_BYTES_MAX: usize = 8 * 1024;
    /// The longest result text that is kept.
    pub const OUTPUT_BYTES_MAX: usize = 4 * 1024;
    /// The most paths that are kept of one call.
    pub const PATHS_MAX: usize = 64;
}
