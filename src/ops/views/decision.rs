//! A decision in a list.

use checkpoint::follow_up::FollowUp;
use journal::{Action, Agent, Decision, Envelope, Outcome, Reason, Route, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::source::Source;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DecisionRow {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    pub(crate) turn: u64,
    /// The stop that was decided about.
    pub(crate) trigger: u64,
    pub(crate) verdict: Verdict,
    pub(crate) reason: Reason,
    pub(crate) route: Option<Route>,
    pub(crate) elapsed_ms: Option<u64>,
    pub(crate) delivery: Outcome,
    /// The word for what its delivery waits for, or for why there was none.
    pub(crate) delivery_reason: Option<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) actions: Vec<Action>,
    pub(crate) observations: Vec<String>,
    pub(crate) all_clear: bool,
    pub(crate) message: Option<String>,
    /// What came of its demand; only in lists.
    #[serde(default)]
    pub(crate) demand: Option<DemandEnd>,
    /// The session's project; only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    /// The repository that it is a clone of, in lists only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    /// Only in a collector's journal.
    #[serde(flatten)]
    pub(crate) source: Option<Source>,
}

impl DecisionRow {
    pub(crate) fn new(
        envelope: &Envelope,
        decision: &Decision,
        outcome: Outcome,
        obstacle: Option<String>,
    ) -> Self {
        Self {
            seq: envelope.seq,
            at: envelope.at,
            session: envelope.stream.session,
            native_session: envelope.stream.native(),
            agent: envelope.stream.agent,
            turn: decision.turn,
            trigger: decision.trigger,
            verdict: decision.verdict,
            reason: decision.reason,
            route: decision.route,
            elapsed_ms: decision.elapsed_ms,
            delivery: outcome,
            delivery_reason: obstacle,
            categories: decision.categories.clone(),
            actions: decision.actions.clone(),
            observations: decision.observations.clone(),
            all_clear: decision.all_clear,
            message: decision.message.clone(),
            demand: None,
            project: None,
            remote: None,
            source: Source::of(envelope),
        }
    }
}

/// What came of a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DemandEnd {
    /// The agent has not stopped again yet.
    Open,
    Met,
    Left,
    Unknown,
    /// Its machine does not send what would show it.
    Withheld,
}

impl DemandEnd {
    pub(crate) const fn of(end: &FollowUp) -> Self {
        match end {
            FollowUp::Open => Self::Open,
            FollowUp::Fulfilled => Self::Met,
            FollowUp::Unfulfilled(_) => Self::Left,
            FollowUp::Unknown => Self::Unknown,
            FollowUp::Withheld => Self::Withheld,
        }
    }

    /// Returns the word for people, where something is known.
    pub(crate) const fn words(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("pending"),
            Self::Met => Some("done"),
            Self::Left => Some("not done"),
            Self::Unknown | Self::Withheld => None,
        }
    }
}
