//! Whether a session is switched off.

use journal::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionState;

/// Whether a session is switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mute {
    /// It is not.
    #[default]
    Off,
    /// Until a point in time.
    Until(Timestamp),
    /// Until somebody switches it on again.
    ForGood,
}

impl SessionState {
    /// Returns whether the session is switched off at `now`.
    pub fn is_muted(&self, now: Timestamp) -> bool {
        match self.muted {
            Mute::Off => false,
            Mute::ForGood => true,
            Mute::Until(until) => now < until,
        }
    }
}
