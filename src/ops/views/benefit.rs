//! What checkpoints did.

use serde::{Deserialize, Serialize};

/// What checkpoints did, and what they cost. `docs/lookback.md` says how each figure is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Benefit {
    /// Stops with a decision.
    pub(crate) stops: u64,
    /// Checkpoints sent.
    pub(crate) sent: u64,
    /// Checkpoints that did not arrive, as far as is known.
    pub(crate) lost: u64,
    /// Actions that the checkpoints demanded.
    pub(crate) actions: u64,
    /// Checkpoints that asked for actions and whose end is known.
    pub(crate) demands: u64,
    /// Those after which every action was done before the next message of a person.
    pub(crate) met: u64,
    /// Checkpoints that asked for actions and whose end is not known.
    pub(crate) open: u64,
    /// Checkpoints whose end or cost their machines withhold; the figures below are without them.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub(crate) withheld: u64,
    /// Checkpoints with a demand that a person marked wrong.
    pub(crate) wrong: u64,
    /// Answers of the model that checkpoints led to, at most.
    pub(crate) rounds: u64,
    /// The time that the agents spent on them.
    pub(crate) ms: u64,
    /// Checkpoints after which the agent ran a check that they asked for.
    pub(crate) checks: u64,
    /// Those of them whose first check failed: mistakes that would have been handed over.
    pub(crate) caught: u64,
    /// They, the newest first, at most 50.
    pub(crate) mistakes: Vec<Mistake>,
}

impl Benefit {
    /// Says what the checkpoints caught; `None` if nothing.
    pub(crate) fn sentence(&self) -> Option<String> {
        let sent = match self.sent {
            1 => "a checkpoint".to_owned(),
            sent => format!("{sent} checkpoints"),
        };
        (self.caught > 0).then(|| {
            format!(
                "{} of {} that {sent} asked for failed at first: `checkpointd stats`",
                self.caught,
                crate::render::count(self.checks, "check", "checks")
            )
        })
    }
}

/// A mistake that a checkpoint found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mistake {
    /// The sequence number of the checkpoint's decision.
    pub(crate) decision: u64,
    /// Its time.
    pub(crate) at: journal::Timestamp,
    /// The session.
    pub(crate) session: uuid::Uuid,
    /// The check that failed, shortened.
    pub(crate) command: String,
}
