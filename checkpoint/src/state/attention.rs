//! Who should look: the notification flag. It is set when an agent finishes or asks, and cleared by a real user message
//! alone, never by a checkpoint (spec LISTEN-2).

use journal::{Event, Notification, Reason, Route, Timestamp};

use super::model::{Delivery, SessionState};

/// The flag's word for an agent that has stopped and was not held back.
pub const AGENT_FINISHED: &str = "agent_finished";

impl SessionState {
    /// Sets the flag, unless a person has spoken since.
    pub(super) fn call_person(&mut self, at: Timestamp, word: &str) {
        if self.turn.started_at.is_none_or(|started| at >= started) {
            self.notification = Some(word.to_owned());
        }
    }

    /// A stop was let pass. A stop that was blocked is no end of work, so it does not come here (spec LISTEN-3).
    pub(super) fn finished(&mut self, at: Timestamp, reason: Reason) {
        // A thread that nobody spoke to, and that did nothing, finished nothing: Codex makes titles in such.
        let idle = self.turns == 0 && self.counts.tools == 0;
        // With background tasks the agent goes on by itself.
        if !idle && reason != Reason::BackgroundTasks {
            self.call_person(at, AGENT_FINISHED);
        }
    }

    /// A checkpoint did not arrive: the agent stays stopped, so its stop was an end of work after all.
    pub(super) fn finished_after_all(&mut self, event: &Event, lost: &Delivery) {
        let stays = match event {
            Event::DeliveryFailed { .. } => true,
            // Nobody can tell whether a reply arrived; what waited to be typed was not.
            Event::DeliveryExpired { reason, .. } => {
                lost.route == Route::Tmux
                    && !matches!(reason.as_str(), "superseded" | "session_ended")
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

    /// People were told. That a checkpoint was sent says nothing of whether the agent needs them.
    pub(super) fn announced(&mut self, news: Notification, output: Option<u64>) {
        self.told |= news != Notification::CheckpointSent;
        self.announced = output.or(self.announced);
    }
}
