//! What `status`, `doctor` and metrics show of the fleet.

use crate::ops::views::FleetLine;
use parking_lot::Mutex;

/// The state of sending or collecting; empty if neither is set up.
#[derive(Default)]
pub(crate) struct State(Mutex<Option<FleetLine>>);

impl State {
    pub(crate) fn line(&self) -> Option<FleetLine> {
        self.0.lock().clone()
    }

    /// Changes the line, which is empty at first.
    pub(crate) fn change(&self, change: impl FnOnce(&mut FleetLine)) {
        change(self.0.lock().get_or_insert_default());
    }

    /// Sending or collecting is no longer set up.
    pub(crate) fn clear(&self) {
        *self.0.lock() = None;
    }

    /// Notes why nothing moves, or that it moves again. Logs changes only.
    pub(crate) fn trouble(&self, now: Option<String>) {
        let mut line = self.0.lock();
        let line = line.get_or_insert_default();
        match (&line.trouble, &now) {
            (None, Some(why)) => tracing::warn!(why, "The fleet's broker cannot be used."),
            (Some(_), None) => tracing::info!("The fleet's broker can be used again."),
            _ => {}
        }
        line.trouble = now;
    }
}
