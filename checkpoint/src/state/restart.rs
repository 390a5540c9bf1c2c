//! The checkpoint that follows an agent restart (spec RESTART-2).

use journal::Timestamp;

use super::model::{SessionState, Stop};

impl SessionState {
    /// Returns the restart with sequence number `seq` as a stop to decide about.
    pub fn restart_stop(&self, seq: u64) -> Option<Stop> {
        let (restart, due) = self.restart.filter(|(restart, _)| *restart == seq)?;
        Some(Stop {
            seq: restart,
            at: due,
            host_turn: None,
            can_reply: false,
            background_tasks: 0,
            restart: true,
            leaves: None,
        })
    }

    /// Returns the restart whose checkpoint is due at `at`. An agent without a terminal gets it as
    /// the reply to its next stop.
    pub fn restart_due(&self, at: Timestamp) -> Option<u64> {
        self.restart
            .filter(|(_, due)| *due <= at)
            .map(|(restart, _)| restart)
    }
}
