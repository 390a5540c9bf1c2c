//! What is kept of work and told of it: phase checkpoints, progress documents, news.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// How far a criterion of a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Met.
    Completed,
}

/// One criterion by which a phase of work is judged (spec PHASE-1, `iscCriteria`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// The author's id of it.
    pub id: String,
    /// What is to be so.
    pub subject: String,
    /// How far it is.
    pub status: CriterionStatus,
}

/// The state of a task at the end of a phase of work (spec PHASE-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCheckpoint {
    /// Its id.
    pub id: String,
    /// The session that it was made in, as its host names it.
    pub session: String,
    /// The phase's name.
    pub phase: String,
    /// The phase's number, 1 to 7.
    pub number: u8,
    /// When it was made.
    pub created_at: Timestamp,
    /// Nothing of it is left to be resumed.
    pub completed: bool,
    /// What the task is and how it stands.
    pub summary: String,
    /// What the phase is judged by.
    pub criteria: Vec<Criterion>,
    /// Whatever else its author wanted to keep: a JSON object, as text, for the store knows no values without a type.
    pub metadata: String,
}

/// What people may want to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The agent has stopped, and was not held back.
    AgentFinished,
    /// The agent cannot go on without a person.
    NeedsAttention,
    /// A checkpoint left for its agent.
    CheckpointSent,
}

impl News {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AgentFinished => "agent_finished",
            Self::NeedsAttention => "needs_attention",
            Self::CheckpointSent => "checkpoint_sent",
        }
    }
}

/// The types of a progress document (spec PROG-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressKind {
    /// The whole state of the work.
    Full,
    /// What has changed since the last document that was not one of these.
    Incremental,
    /// The whole state, with notes for the session that goes on.
    Handoff,
    /// The whole state, before something complex begins.
    PreOperation,
    /// The whole state, before the agent's context is compacted.
    PreCompaction,
    /// The whole state, after an error.
    Error,
    /// The whole state, because somebody asked for it.
    Manual,
}

impl ProgressKind {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Full,
        Self::Incremental,
        Self::Handoff,
        Self::PreOperation,
        Self::PreCompaction,
        Self::Error,
        Self::Manual,
    ];

    /// Returns the word of the command line and of JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Incremental => "incremental",
            Self::Handoff => "handoff",
            Self::PreOperation => "pre-operation",
            Self::PreCompaction => "pre-compaction",
            Self::Error => "error",
            Self::Manual => "manual",
        }
    }

    /// Returns the type that a word names.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
