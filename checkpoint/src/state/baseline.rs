//! The state of the work tree as a turn began: files that had changed before it, for `scope: turn`, and where HEAD was.

use std::time::Duration;

use journal::{ChangedFile, Timestamp};

use super::model::{Head, SessionState, Turn};

/// A baseline is taken within this time after the beginning of a turn, or not at all.
const BASELINE_WITHIN: Duration = Duration::from_secs(10);
/// The largest baseline; a turn with a larger one has none, and every change counts.
const BASELINE_FILES_MAX: usize = 5_000;

impl SessionState {
    /// Returns the beginning of the current turn if it is recent and the agent has used no tool
    /// since: only then are the files that differ now those that differed before the turn. The part
    /// of a turn that an added message seems to begin is not a fresh one.
    pub fn fresh_turn(&self, now: Timestamp) -> Option<Timestamp> {
        let turn = &self.turn;
        let is_part = self.ahead.is_some();
        let untouched = self.running
            && turn.first_tool_use_at.is_none()
            && turn.baseline.is_none()
            && turn.head.is_none();
        turn.started_at
            .filter(|started| untouched && !is_part && now.since(*started) <= BASELINE_WITHIN)
    }

    /// Keeps the baseline of a turn, unless that turn is over.
    pub(super) fn take_baseline(
        &mut self,
        turn_at: Timestamp,
        files: &[ChangedFile],
        at: Timestamp,
    ) {
        if self.turn.started_at == Some(turn_at) && files.len() <= BASELINE_FILES_MAX {
            self.turn.baseline = Some(files.to_vec());
            self.turn.baseline_at = Some(at);
        }
    }
}

impl Turn {
    /// Returns where HEAD was before the agent used a tool; `None` if it was not recorded in time.
    pub fn head_before(&self) -> Option<&Head> {
        self.head
            .as_ref()
            .filter(|head| self.first_tool_use_at.is_none_or(|first| head.at <= first))
    }
}
