//! Calls that ended, and what was read of them.

use journal::{Examined, Timestamp};
use serde::{Deserialize, Serialize};

/// A call that has ended and was not examined so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Sequence number of its end.
    pub seq: u64,
    /// The host's id of it.
    pub id: Option<String>,
    /// When it began, as in the turn's calls.
    pub at: Timestamp,
    /// When its end was reported.
    pub ended_at: Timestamp,
    /// How long it took, if the host says so.
    pub duration_ms: Option<u64>,
}

/// What was read of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExaminedCall {
    /// The host's id of the call.
    pub id: Option<String>,
    /// When it began, as in the turn's calls.
    pub at: Timestamp,
    /// What was read.
    #[serde(with = "journal::as_json")]
    pub examined: Box<Examined>,
}

impl Ended {
    /// Returns when the call began: what was written later is not what it ran on.
    pub fn began(&self) -> Timestamp {
        let is_seen = self.at < self.ended_at;
        let lasted = self.duration_ms.filter(|_| !is_seen).unwrap_or_default();
        let micros = i64::try_from(lasted)
            .unwrap_or(i64::MAX)
            .saturating_mul(1_000);
        Timestamp::from_micros(self.at.as_micros().saturating_sub(micros))
    }
}
