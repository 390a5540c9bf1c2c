//! The parts of hook calls in a form common to all agents: place, origin of a prompt, tool call.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The fields that every hook call has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The host's name of the event, for example `PostToolUse`.
    pub hook: String,
    /// The host's id of the turn (Claude `prompt_id`, Codex `turn_id`); Gemini has none.
    pub turn: Option<String>,
    /// The subagent that made the call; `None` for the main agent.
    pub subagent: Option<String>,
    /// Where the agent runs; not on every call.
    pub place: Option<Place>,
}

impl Host {
    /// The name of the hook in events that were read from an agent's transcript.
    pub const FROM_TRANSCRIPT: &'static str = "transcript";
}

/// Where an agent runs and how to reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Working directory of the agent.
    pub cwd: String,
    /// The agent's transcript file, as the host names it.
    pub transcript: Option<String>,
    /// Hook-relevant environment variables ([`crate::request::ENV_NAMES`]), never secrets.
    pub env: Vec<(String, String)>,
}

impl Place {
    /// Returns the value of an environment variable of the hook call; `None` if unset or empty.
    pub fn env(&self, name: &str) -> Option<&str> {
        let (_, value) = self.env.iter().find(|(key, _)| key == name)?;
        (!value.is_empty()).then_some(value)
    }
}

/// The origin of a prompt. Only [`PromptOrigin::User`] starts a turn (spec TURN-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// A user, or a script in their place.
    User,
    /// This product: the text has the canonical prefix.
    Own,
    /// The host: task notifications, hook feedback, reminders, compaction summaries.
    Host,
    /// A subagent of the session.
    Subagent,
}

/// The effect of a tool call, independent of the host's name of the tool.
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

/// A tool call of an agent, in a form common to all hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The host's id of the call; Gemini's hooks have none.
    pub id: Option<String>,
    /// The host's name of the tool.
    pub tool: String,
    /// The effect of the call.
    pub kind: ToolKind,
    /// The command line of a shell call, at most [`ToolCall::COMMAND_BYTES_MAX`] bytes.
    pub command: Option<String>,
    /// The files it touches, as the agent named them.
    pub paths: Vec<String>,
    /// Whether it failed, by the host's flag or an exit code in the result's text. A refused call is not an error.
    pub is_error: bool,
    /// Whether a user, a policy or a hook refused it, so it never ran.
    pub refused: bool,
    /// Whether it has ended, and the result that was seen says how.
    pub finished: bool,
    /// The output of a failed call, at most [`ToolCall::OUTPUT_BYTES_MAX`] bytes; empty otherwise.
    pub output: String,
    /// When it started, as far as known.
    pub at: Timestamp,
    /// Duration in milliseconds, if known.
    pub duration_ms: Option<u64>,
    /// Those of `paths` whose text an edit has by itself: it makes them, or quotes what it replaces. Not journaled.
    #[serde(skip)]
    pub created: Vec<String>,
}

impl ToolCall {
    /// Begins the name of the tool of a call that another session made; its id follows.
    pub const OF_SESSION: &str = "session ";

    /// The name of the tool of a person's own run.
    pub const OF_PERSON: &str = "a run of your own";

    /// Returns whether it is a call of another session, or a person's own run, on the same contents.
    pub fn is_others(&self) -> bool {
        self.tool.starts_with(Self::OF_SESSION) || self.tool == Self::OF_PERSON
    }

    /// Maximum size of a command line; a longer one loses parts that are no commands.
    pub const COMMAND_BYTES_MAX: usize = 8 * 1024;
    /// Maximum size of an output; the rest is cut.
    pub const OUTPUT_BYTES_MAX: usize = 4 * 1024;
    /// Maximum number of paths of a call.
    pub const PATHS_MAX: usize = 64;
}
