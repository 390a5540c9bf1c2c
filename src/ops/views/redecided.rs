//! The results of deciding past stops again.

use journal::{Agent, Decision, Reason, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Whether decisions have the same result again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reproved {
    pub(crate) decisions: usize,
    pub(crate) matched: usize,
    pub(crate) mismatched: Vec<Mismatch>,
    /// Decisions with a part that a machine withholds, so that they cannot be made again.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) withheld: u64,
    /// Decisions that an earlier version made, so that this one need not repeat them.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) earlier: u64,
}

/// A decision that has another result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mismatch {
    pub(crate) seq: u64,
    /// The fields that differ.
    pub(crate) fields: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<Reason>,
    /// Why it could not be decided again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// What another configuration would have decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WhatIf {
    pub(crate) decisions: usize,
    pub(crate) read_as: ReadAs,
    pub(crate) changed: Vec<ChangedDecision>,
    /// Decisions with a part that a machine withholds, so that they cannot be made again.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) withheld: u64,
    /// Decisions that an earlier version made, so that they may change for that reason alone.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) earlier: u64,
    /// The parts of projects' own files that were left out because the user does not trust them, one line for each
    /// project.
    #[serde(default)]
    pub(crate) waiting: Vec<String>,
}

/// How a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadAs {
    Config,
    Rules,
}

/// A decision that would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangedDecision {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) session: Uuid,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    pub(crate) was: Side,
    pub(crate) now: Side,
    /// It passed before evidence was gathered, so its demands are not known.
    pub(crate) guessed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Side {
    pub(crate) verdict: Verdict,
    pub(crate) reason: Reason,
    pub(crate) actions: Vec<String>,
    pub(crate) message: Option<String>,
}

impl From<&Decision> for Side {
    fn from(decision: &Decision) -> Self {
        let actions = decision.actions.iter().map(|action| action.text.clone());
        Self {
            verdict: decision.verdict,
            reason: decision.reason,
            actions: actions.collect(),
            message: decision.message.clone(),
        }
    }
}
