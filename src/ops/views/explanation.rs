//! One decision with its inputs.

use std::collections::BTreeMap;

use checkpoint::Policy;
use checkpoint::decide::Considered;
use checkpoint::follow_up::{DoneBy, FollowUp, Followed};
use journal::{Action, Evidence, Reason, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use super::decision::{DecisionRow, DemandEnd};
use super::event_line::EventLine;
use super::state::StateView;
use super::trace::RulesView;

/// One decision with its inputs, its delivery and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Explanation {
    pub(crate) decision: DecisionRow,
    /// The stop, with its payload.
    pub(crate) event: Option<EventLine>,
    /// The session before the decision.
    pub(crate) state: StateView,
    pub(crate) evidence: Option<Evidence>,
    /// `None` if the journal does not have the policy of the decision.
    pub(crate) rules: Option<RulesView>,
    /// The exits in order, up to the one that was taken.
    pub(crate) considered: Vec<Considered>,
    pub(crate) delivery: Vec<EventLine>,
    /// The stop, the decision, and each event of the delivery.
    pub(crate) times: Option<Vec<TimeAfter>>,
    pub(crate) demand: Option<Demand>,
    /// The demands that a person marked wrong.
    pub(crate) marked_wrong: Vec<MarkView>,
    pub(crate) policy: Option<Policy>,
    pub(crate) basis: u64,
    pub(crate) version: u32,
    /// Whose calls are a subagent's, by the ids of the calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) subagents: BTreeMap<String, String>,
    /// The turn's other decisions, and the session's last one if it is newer.
    #[serde(default)]
    pub(crate) others: Vec<OtherStop>,
}

/// Another stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OtherStop {
    /// Sequence number of its decision.
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) turn: u64,
    pub(crate) verdict: Verdict,
    pub(crate) reason: Reason,
}

/// A demand that a person marked wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MarkView {
    /// The demand's number, from 1; `None` for all of them.
    pub(crate) item: Option<u32>,
    pub(crate) note: String,
}

/// How long after the stop an event was journaled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeAfter {
    pub(crate) kind: String,
    /// Microseconds after the stop happened.
    pub(crate) after_us: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Demand {
    pub(crate) end: DemandEnd,
    /// The actions that were not done.
    pub(crate) left: Vec<Action>,
    /// The calls that show that others were.
    #[serde(default)]
    pub(crate) done_by: Vec<DoneBy>,
}

impl Demand {
    /// Returns `None` for a checkpoint that asked for no action.
    pub(crate) fn of(followed: Followed) -> Option<Self> {
        let of = followed.end?;
        Some(Self {
            end: DemandEnd::of(&of),
            left: match of {
                FollowUp::Unfulfilled(left) => left,
                _ => Vec::new(),
            },
            done_by: followed.done_by,
        })
    }
}
