//! The settings that a decision depends on, after `config/` has merged the defaults, the user's
//! file and the project's file. A policy is journaled whole when it is first used.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use agents::adapter::Reply;

use crate::catalogue::Row;
use crate::digest;
use crate::rules::{Rule, Sorting};

/// The input of a decision besides the session's state and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Whether the project takes part (`enabled` in `.checkpointd.yml`, `projects` in
    /// `config.yml`).
    pub enabled: bool,
    /// The shortest turn that gets a checkpoint (spec DECIDE-8).
    pub min_turn_ms: u64,
    /// What starts the timer of a turn.
    pub timer: Timer,
    /// How work is judged.
    #[serde(default)]
    pub judgment: Edition,
    /// What is demanded of code of which it is not known whether it was verified (spec EVID-3).
    #[serde(default)]
    pub ask: Ask,
    /// What is enough for code that no test covers (spec EVID-6).
    #[serde(default)]
    pub uncovered: Uncovered,
    /// Whether a change of comments counts (spec RULE-23).
    #[serde(default)]
    pub comments: Comments,
    /// How often one turn may be blocked (spec DECIDE-7).
    pub max_blocks_per_turn: u32,
    /// Which changed files count.
    pub scope: Scope,
    /// Whether an earlier demand is repeated.
    pub repeat: Repeat,
    /// What counts as having done an action.
    pub evidence: EvidenceRule,
    /// What happens when all expected actions were observed.
    pub all_clear: Quiet,
    /// What happens when only documentation changed.
    pub docs_only: Quiet,
    /// What happens when nothing changed and nothing failed.
    #[serde(default)]
    pub unchanged: Quiet,
    /// Which running background tasks let a stop pass.
    #[serde(default)]
    pub background: Background,
    /// The reply form for Claude Code.
    pub reply: Reply,
    /// What happens in a headless session.
    pub headless: Headless,
    /// From an agent restart to its unconditional checkpoint (spec RESTART-2), in milliseconds.
    pub restart_delay_ms: u64,
    /// First words of every checkpoint; how our own text is recognized (spec MSG-2).
    pub prefix: String,
    /// The words of a checkpoint below its first line, with [`Self::OPEN`] for what is open; empty for our own.
    #[serde(default)]
    pub message: String,
    /// From a sent hook reply to giving up on its confirmation, in milliseconds.
    pub confirm_timeout_ms: u64,
    /// Name of the file that lets the next stop pass, in the agent's TMPDIR (spec DECIDE-4).
    #[serde(default = "default_escape_marker")]
    pub escape_marker: String,
    /// The folder in which a file named by the session lets its next stop pass (spec DECIDE-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_folder: Option<String>,
    /// The active work item of the project's file (spec HYG-7).
    pub working_slug: Option<String>,
    /// Whether the work item may be read from the branch name (spec HYG-7).
    pub slug_from_branch: bool,
    /// Programs that a person added to the catalogue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Row>,
    /// Of 100 turns in which something is due, those without a checkpoint (spec DECIDE-24).
    #[serde(default, skip_serializing_if = "is_default")]
    pub holdout: u32,
    /// What happens to a command by which work leaves (spec DECIDE-25).
    #[serde(default, skip_serializing_if = "is_default")]
    pub exits: Exits,
    /// The rule packs that are on.
    pub packs: Vec<String>,
    /// The rules in order of precedence.
    pub rules: Vec<Rule>,
}

/// The name in policies that were journaled before the key existed.
fn default_escape_marker() -> String {
    "teleclaude_checkpoint_clear".into()
}

/// Returns whether a value is left out, as in policies that were journaled before the key existed.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Policy {
    /// The placeholder in [`Self::message`] for what is not verified yet.
    pub const OPEN: &str = "{open}";

    /// Returns whether the seeds are followed word for word (spec RULE-3).
    pub fn is_letter(&self) -> bool {
        self.judgment == Edition::Letter
    }

    /// Returns which rules of packs apply besides the ordinary ones.
    pub fn sorting(&self) -> Sorting {
        Sorting {
            data: !self.is_letter(),
            by_hand: false,
        }
    }

    /// Returns the shortest turn that gets a checkpoint.
    pub const fn min_turn(&self) -> Duration {
        Duration::from_millis(self.min_turn_ms)
    }

    /// Returns the path of the file that lets a session's next stop pass (spec DECIDE-4).
    pub fn clear_file(&self, session: Uuid) -> Option<String> {
        let folder = self.clear_folder.as_deref()?;
        Some(format!("{}/{session}", folder.trim_end_matches('/')))
    }

    /// Returns the JSON text that is journaled, and its fingerprint.
    pub fn to_text(&self) -> (u64, String) {
        let text =
            serde_json::to_string(self).expect("a policy has only string keys and finite numbers");
        (digest::of_text(&text), text)
    }

    /// Reads a text of [`Policy::to_text`].
    pub fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// How work is judged. Decisions keep the edition that they were made by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Edition {
    /// As the requirements of TeleClaude say, word for word: by time, by what differs from the last commit, and in doubt
    /// asked for. The edition of policies that were journaled before there were editions.
    #[default]
    #[serde(rename = "letter")]
    Letter,
    /// By evidence that belongs to contents; only what is certainly open is asked for.
    #[serde(rename = "2026-11")]
    November2026,
}

/// What is demanded besides what is certainly open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Nothing.
    #[default]
    Certain,
    /// What is not known to be done, as a question.
    Likely,
}

/// What is enough for code that no test covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncovered {
    /// A build, a type check or a run of the program.
    #[default]
    Build,
    /// Nothing less than a test run.
    Tests,
}

/// Whether a change of comments counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comments {
    /// A file in which only comments changed asks for nothing.
    #[default]
    Ignored,
    /// It asks for what its rules ask for.
    Code,
}

/// Which running background tasks let a stop pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Those that bring another stop when they end, such as a subagent.
    Returning,
    /// All of them.
    #[default]
    Any,
}

/// What starts the timer of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The later of the last user message and the last checkpoint (spec TURN-3).
    Unified,
    /// The first tool use after either (spec TURN-4).
    FirstToolUse,
}

/// Which changed files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All that differs from the last commit, untracked files, and what was committed since the turn began (spec FILES-1).
    Worktree,
    /// Only what changed since the turn began.
    Turn,
}

/// Whether an earlier demand is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Once in a session for the same actions on the same file contents.
    Once,
    /// At every stop.
    Always,
}

journal::words! {
    /// What happens to a command by which work leaves the machine.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Exits {
        /// It runs.
        #[default]
        Off = "off",
        /// It is held once if some of that work is certainly open.
        Hold = "hold",
        /// So is the end of a part: of a subagent, a task, or a teammate's work.
        Parts = "parts",
    }
}

/// What counts as having done an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRule {
    /// The command was executed, succeeded, and came after the last edit it covers.
    Command,
    /// The text occurs in a shell command (spec EVID-10).
    Substring,
}

journal::words! {
    /// Whether a variant is sent at all.
    #[derive(Default)]
    pub enum Quiet {
        /// Send it (spec DECIDE-12).
        #[default]
        Message = "message",
        /// Let the agent stop.
        Silent = "silent",
    }
}

/// What happens in a headless session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Headless {
    /// A checkpoint only when actions or observations are due.
    WhenNeeded,
    /// As with a person.
    Always,
    /// No checkpoint.
    Never,
}
