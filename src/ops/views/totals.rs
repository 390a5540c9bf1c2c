//! Totals of decisions.

use std::collections::BTreeMap;

use journal::Agent;
use serde::{Deserialize, Serialize};

use super::Benefit;

/// What checkpoints did, and totals of decisions, overall and for each agent in each project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) benefit: Benefit,
    pub(crate) total: Totals,
    pub(crate) groups: Vec<Group>,
    /// By the rule that made the demand, the most frequent first.
    pub(crate) rules: Vec<RuleTotals>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleTotals {
    pub(crate) rule: String,
    pub(crate) demanded: u64,
    /// Those after which the action was done; `None` for checks that ask for no action.
    pub(crate) met: Option<u64>,
    /// Those that a person marked wrong.
    pub(crate) wrong: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    /// Only in a collector's journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    /// The repository that it is a clone of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    #[serde(flatten)]
    pub(crate) totals: Totals,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) decisions: u64,
    pub(crate) injected: u64,
    pub(crate) passed: u64,
    pub(crate) passed_by_reason: BTreeMap<String, u64>,
    /// Checkpoints by their outcome: this and the three fields after it.
    pub(crate) confirmed: u64,
    pub(crate) failed: u64,
    pub(crate) expired: u64,
    pub(crate) pending: u64,
    pub(crate) turns: usize,
    pub(crate) median_turn_ms: Option<u64>,
    /// Checkpoints that asked for actions and whose end is known.
    pub(crate) demands: u64,
    /// Those of them after which every action was done.
    pub(crate) met: u64,
    /// Checkpoints that asked for actions and whose end their machines withhold.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) withheld: u64,
    /// Checkpoints with a demand that a person marked wrong.
    pub(crate) wrong: u64,
}
