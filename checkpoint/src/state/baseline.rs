//! What had changed already as a turn began, for `scope: turn`.

use std::time::Duration;

use journal::{ChangedFile, Timestamp};

use super::model::SessionState;

/// So soon after a turn's beginning its baseline is taken, or never.
const BASELINE_WITHIN: Duration = Duration::from_secs(10);
/// The most files of a turn's baseline that are kept; without one of more, every change counts.
const BASELINE_FILES_MAX: usize = 5_000;

impl SessionState {
    /// Returns when the current turn began, where that was a moment ago and the agent has not touched anything since: only
    /// then is what has changed by now what had changed before the turn.
    pub fn fresh_turn(&self, now: Timestamp) -> Option<Timestamp> {
        let turn = &self.turn;
        let untouched = self.running && turn.first_tool_use_at.is_none() && turn.baseline.is_none();
        turn.started_at
            .filter(|started| untouched && now.since(*started) <= BASELINE_WITHIN)
    }

    /// Keeps what had changed before a turn, unless that turn is over.
    pub(super) fn take_baseline(&mut self, turn_at: Timestamp, files: &[ChangedFile]) {
        if self.turn.started_at == Some(turn_at) && files.len() <= BASELINE_FILES_MAX {
            self.turn.baseline = Some(files.to_vec());
        }
    }
}
