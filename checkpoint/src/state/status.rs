//! What a session is doing, and what people know it by: the one definition for all lists, the page, `top`, `status` and
//! `sql` (spec TURN-12 and TURN-13).

use std::time::Duration;

use journal::Timestamp;

use super::attention::AGENT_FINISHED;
use super::model::SessionState;
use crate::agents;
use crate::policy::Timer;

/// An agent that was silent for this long no longer works, whatever it said last.
const QUIET_AFTER: Duration = Duration::from_secs(24 * 3_600);
/// Maximum length of a title, in characters.
const TITLE_CHARS_MAX: usize = 80;

journal::words! {
    /// What a session is doing, the most urgent first.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum SessionStatus {
        /// It cannot continue without a person: a dialog is open, or it failed.
        NeedsYou = "needs_you",
        /// It has finished and has had no new message since.
        Waiting = "waiting",
        /// Its agent works.
        Running = "running",
        /// Nothing is expected of anyone.
        Idle = "idle",
        /// Its agent was closed.
        Ended = "ended",
    }
}

impl SessionStatus {
    /// Returns the words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }

    /// Returns whether the session waits for a person.
    pub const fn waits(self) -> bool {
        matches!(self, Self::NeedsYou | Self::Waiting)
    }

    /// Returns whether the session is in every list, however many newer ones there are.
    pub const fn is_urgent(self) -> bool {
        !matches!(self, Self::Idle | Self::Ended)
    }
}

impl SessionState {
    /// Returns what the session is doing at `now`.
    pub fn status(&self, now: Timestamp) -> SessionStatus {
        // A dialog holds up an agent in the midst of its work.
        if self.dialog_up && self.ended_at.is_none() {
            SessionStatus::NeedsYou
        } else if self.running && !self.is_quiet(now) {
            SessionStatus::Running
        } else if self.ended_at.is_some() {
            SessionStatus::Ended
        } else {
            match self.notification.as_deref() {
                None => SessionStatus::Idle,
                Some(AGENT_FINISHED) => SessionStatus::Waiting,
                // An agent reports after every finish that it waits. Nothing is wrong with it.
                Some(word) if self.idle_word() == Some(word) => SessionStatus::Waiting,
                Some(_) => SessionStatus::NeedsYou,
            }
        }
    }

    fn idle_word(&self) -> Option<&'static str> {
        let agent = agents::adapter(self.stream.agent);
        agent?.notifications.idle
    }

    /// Returns whether the agent has been silent for a day.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        self.quiet_after().is_some_and(|quiet| now > quiet)
    }

    /// Returns until when the agent counts as one that may work, unless it calls a hook: its status changes by itself
    /// then, and at no other time.
    pub fn quiet_after(&self) -> Option<Timestamp> {
        let heard = self.heard_at.or(self.last_at)?;
        Some(heard.plus(QUIET_AFTER))
    }

    /// Returns when the current period of work began, if it lasts at `now`: while the agent works, or would if a dialog
    /// were answered.
    pub fn clock_start(&self, timer: Timer, now: Timestamp) -> Option<Timestamp> {
        let lasts = match self.status(now) {
            SessionStatus::Running => true,
            SessionStatus::NeedsYou => self.dialog_up,
            _ => false,
        };
        self.turn_start(timer).filter(|_| lasts)
    }

    /// Returns whether nothing in the session shows that an agent worked in it. A test of the hooks leaves such a session,
    /// and so does a hook that was called by hand: agents say where they run.
    pub fn is_empty(&self) -> bool {
        !self.opened
            && self.turns == 0
            && self.counts.tools == 0
            && (self.counts.stops == 0 || self.project().is_empty())
    }

    /// Keeps the first message of a person as the session's title.
    pub(super) fn take_title(&mut self, text: &str) {
        if self.title.is_none() {
            self.title = title(text);
        }
    }
}

/// Returns a message on one line, cut between words where it can be.
fn title(message: &str) -> Option<String> {
    let mut title = String::new();
    for word in message.split_whitespace() {
        let room = TITLE_CHARS_MAX.saturating_sub(title.chars().count() + 1);
        if word.chars().count() < room {
            title.push_str(if title.is_empty() { "" } else { " " });
            title.push_str(word);
            continue;
        }
        if title.is_empty() {
            title.extend(word.chars().take(room));
        }
        title.push('…');
        break;
    }
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_and_cut_between_words() {
        let long = "word ".repeat(40);
        let cut = title(&long).unwrap_or_default();
        assert!(
            cut.ends_with(" word…") && cut.chars().count() <= TITLE_CHARS_MAX,
            "{cut}"
        );
        assert_eq!(
            title("Fix\n\n  the tests\t").as_deref(),
            Some("Fix the tests")
        );
        assert_eq!(title(" \n"), None);
        assert_eq!(
            title(&"x".repeat(500)).map(|title| title.chars().count()),
            Some(TITLE_CHARS_MAX)
        );
    }
}
