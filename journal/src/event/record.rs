//! Phase records, types of progress documents, kinds of notifications.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The status of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Met.
    Completed,
}

/// One criterion by which a phase of work is judged (spec PHASE-1, `iscCriteria`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Id given by the author.
    pub id: String,
    /// The condition to meet.
    pub subject: String,
    /// Its status.
    pub status: CriterionStatus,
}

/// The state of a task at the end of a phase of work (spec PHASE-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Id of the record.
    pub id: String,
    /// The host's id of the session that created it.
    pub session: String,
    /// Name of the phase.
    pub phase: String,
    /// Number of the phase, 1 to 7.
    pub number: u8,
    /// When it was created.
    pub created_at: Timestamp,
    /// No work is left to resume.
    pub completed: bool,
    /// The task and its state.
    pub summary: String,
    /// The criteria of the phase.
    pub criteria: Vec<Criterion>,
    /// Other data of the author: a JSON object as text, because bincode cannot store values without a type.
    pub metadata: String,
}

crate::words! {
    /// The kinds of notifications to listeners.
    #[derive(Hash)]
    pub enum Notification {
        /// The agent has stopped and was not made to continue.
        AgentFinished = "agent_finished",
        /// The agent needs a user to continue.
        NeedsAttention = "needs_attention",
        /// A checkpoint was sent to its agent.
        CheckpointSent = "checkpoint_sent",
    }
}

crate::words! {
    /// The types of a progress document (spec PROG-3).
    #[derive(Hash)]
    pub enum ProgressKind {
        /// The complete state of the work.
        Full = "full",
        /// Changes since the last document of another type.
        Incremental = "incremental",
        /// The complete state, with notes for the session that continues.
        Handoff = "handoff",
        /// The complete state before a complex operation.
        PreOperation = "pre-operation",
        /// The complete state before the agent's context is compacted.
        PreCompaction = "pre-compaction",
        /// The complete state after an error.
        Error = "error",
        /// The complete state on request of a user.
        Manual = "manual",
    }
}
