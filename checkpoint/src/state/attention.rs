//! The notification flag: an agent needs a person. It is set when an agent finishes or asks, and
//! cleared only by a real user message, never by a checkpoint (spec LISTEN-2).

use journal::{Event, Notification, Reason, Route, Timestamp};

use super::model::{Delivery, SessionState};

/// The flag's value for an agent that has stopped without a checkpoint.
pub const AGENT_FINISHED: &str = "agent_finished";

impl SessionState {
    /// Sets the flag, unless a person has written since.
    pub(super) fn call_person(&mut self, at: Timestamp, word: &str) {
        if self.turn.started_at.is_none_or(|started| at >= started) {
            self.notification = Some(word.to_owned());
        }
    }

    /// Sets the flag for a stop that passed. A blocked stop is not an end of work (spec LISTEN-3).
    pub(super) fn finished(&mut self, at: Timestamp, reason: Reason) {
        // A thread without messages and tool calls has no work to finish: Codex makes titles in
        // such threads.
        let idle = self.turns == 0 && self.counts.tools == 0;
        // With background tasks the agent continues without a person.
        if !idle && reason != Reason::BackgroundTasks {
            self.call_person(at, AGENT_FINISHED);
        }
    }

    /// Sets the flag for a checkpoint that did not arrive: the agent stays stopped, so its stop was
    /// an end of work.
    pub(super) fn finished_after_all(&mut self, event: &Event, lost: &Delivery) {
        let stays = match event {
            Event::DeliveryFailed { .. } => true,
            // A text that waited to be typed did not arrive. Whether a reply did is unknown; but if no hook call came
            // since, the host no longer waits for its agent, for example because a person pressed Esc meanwhile.
            Event::DeliveryExpired { reason, .. } => {
                let is_silent = self.heard_at.is_none_or(|heard| heard <= lost.at);
                !matches!(reason.as_str(), "superseded" | "session_ended")
                    && (lost.route == Route::Tmux || is_silent)
            }
            _ => false,
        };
        if stays
            && lost.seen_by.is_none()
            && self
                .turn
                .started_at
                .is_none_or(|started| started <= lost.at)
        {
            self.running = false;
            self.call_person(lost.at, AGENT_FINISHED);
        }
    }

    /// Notes an announcement. That of a sent checkpoint says nothing about whether the agent needs
    /// a person.
    pub(super) fn announced(&mut self, news: Notification, output: Option<u64>) {
        self.told |= news != Notification::CheckpointSent;
        self.announced = output.or(self.announced);
    }
}
