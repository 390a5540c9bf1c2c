//! The steps of typing one checkpoint: what has been done, what is seen now, and what follows.
//!
//! Two rules stand above all. A text is pasted a second time only where it is certain that it is nowhere. And Enter is
//! pressed only while our text stands in the composer, whole and alone: with anything else on the screen it could
//! approve a tool call, or send somebody's draft.

use std::time::Duration;

use journal::Timestamp;
use serde::{Deserialize, Serialize};

use super::text_box::Composer;

/// What the journal knows of a delivery by typing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// Pastes that were begun.
    pub attempts: u32,
    /// When the last one was begun.
    pub attempted_at: Timestamp,
    /// When the last one was done; none where nobody knows whether it was.
    pub pasted_at: Option<Timestamp>,
    /// The agent's process then.
    pub pid: Option<u32>,
    /// How often Enter was pressed, or was about to be.
    pub enters: u32,
    /// When that was for the last time.
    pub entered_at: Timestamp,
    /// What it was last seen to wait for.
    pub held: Option<String>,
}

/// What is seen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The pane is gone.
    Gone,
    /// The agent is not the program that keys reach.
    Other,
    /// Somebody reads back in the pane, so that keys would not reach the agent.
    CopyMode,
    /// tmux did not tell.
    Nothing,
    /// The agent's screen.
    Composer(Composer),
}

/// What happens to a half-typed draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draft {
    /// It is waited for.
    Wait,
    /// It is cleared.
    Clear,
}

/// The bounds of a delivery by typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// From a paste to its Enter, and from an Enter to the next look.
    pub settle: Duration,
    /// From the Enter to giving up on a sign that the agent has the text.
    pub confirm_timeout: Duration,
    /// What happens to a draft.
    pub draft: Draft,
    /// How long a draft, or another program in the pane, is waited for.
    pub draft_wait: Duration,
    /// How long a dialog or copy mode is waited for, from the decision on.
    pub hold_for: Duration,
    /// The most pastes, and the most Enters.
    pub attempts: u32,
}

/// All that the next step depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// What has been done.
    pub typed: &'a Typed,
    /// What is seen.
    pub seen: Seen,
    /// When the checkpoint was decided.
    pub decided_at: Timestamp,
    /// Since when what is seen has been so.
    pub since: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// The agent told of a question that was not answered yet.
    pub asks: bool,
    /// The agent works, so that it may take the text up later.
    pub running: bool,
    /// Our text is to be seen outside the composer.
    pub is_said: bool,
    /// If the agent had the text, its transcript or its prompt hook would have told.
    pub would_tell: bool,
    /// The bounds.
    pub bounds: Bounds,
}

/// What to do next. The words are those of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Look again soon; something stands in the way, where there is a word.
    Wait(Option<&'static str>),
    /// Take the draft away.
    Clear,
    /// Paste the text.
    Paste,
    /// Note that the text was pasted, which nobody had noted.
    NotePasted,
    /// Press Enter.
    Enter,
    /// It did not reach the agent.
    Fail(&'static str),
    /// Nobody can tell whether it will, or did.
    Expire(&'static str),
}

/// Returns the next step.
pub fn next(now: &Situation<'_>) -> Step {
    match (now.typed.attempts, now.typed.pasted_at, now.typed.enters) {
        (0, ..) => now.before_paste(),
        (_, None, 0) => now.after_attempt(),
        (_, Some(pasted_at), 0) => now.after_paste(pasted_at),
        _ => now.after_enter(),
    }
}

impl Situation<'_> {
    fn before_paste(&self) -> Step {
        if let Some(step) = self.obstacle() {
            return step;
        }
        match self.seen {
            Seen::Composer(Composer::Empty) => Step::Paste,
            _ => match self.hold(
                "draft_present",
                self.since,
                self.bounds.draft_wait,
                Step::Fail("draft_present"),
            ) {
                Step::Wait(_) if self.bounds.draft == Draft::Clear => Step::Clear,
                step => step,
            },
        }
    }

    /// The daemon ended, or tmux did not answer, while the text was being pasted. Enter was not pressed, so a text that
    /// arrived still stands in the composer, unless a person sent it or took it away.
    fn after_attempt(&self) -> Step {
        if let Some(step) = self.obstacle() {
            return step;
        }
        match self.seen {
            Seen::Composer(Composer::Ours) => Step::NotePasted,
            Seen::Composer(Composer::Empty) if !self.is_said => {
                let patience = self.bounds.settle * 2;
                if self.now < self.typed.attempted_at.max(self.since).plus(patience) {
                    Step::Wait(None)
                } else if self.typed.attempts < self.bounds.attempts {
                    Step::Paste
                } else {
                    Step::Fail("not_pasted")
                }
            }
            Seen::Composer(Composer::Empty) => self.await_sign(self.typed.attempted_at),
            _ => self.hold(
                "draft_present",
                self.since,
                self.bounds.draft_wait,
                Step::Fail("draft_present"),
            ),
        }
    }

    fn after_paste(&self, pasted_at: Timestamp) -> Step {
        if self.now < pasted_at.plus(self.bounds.settle) {
            return Step::Wait(None);
        }
        if let Some(step) = self.obstacle() {
            return step;
        }
        match self.seen {
            Seen::Composer(Composer::Ours) => Step::Enter,
            // A slow agent may not have drawn it yet; and a person may have sent it, or taken it away.
            Seen::Composer(Composer::Empty) => {
                let over = self.now >= pasted_at.max(self.since).plus(self.bounds.confirm_timeout);
                let is_nowhere = self.would_tell && !self.is_said && !self.running;
                if over && is_nowhere && self.typed.attempts < self.bounds.attempts {
                    Step::Paste
                } else {
                    self.await_sign(pasted_at.max(self.since))
                }
            }
            _ => self.hold(
                "draft_present",
                self.since,
                self.bounds.draft_wait,
                Step::Expire("draft_present"),
            ),
        }
    }

    fn after_enter(&self) -> Step {
        let rested = self.now >= self.typed.entered_at.plus(self.bounds.settle);
        let is_pending = self.seen == Seen::Composer(Composer::Ours) && !self.asks;
        if rested && is_pending && self.typed.enters < self.bounds.attempts {
            return Step::Enter;
        }
        self.await_sign(self.typed.entered_at)
    }

    /// Returns what to do while nothing can be typed; none where the composer is there.
    fn obstacle(&self) -> Option<Step> {
        let long = |word| {
            Some(self.hold(
                word,
                self.decided_at,
                self.bounds.hold_for,
                Step::Expire(word),
            ))
        };
        let short =
            |word| Some(self.hold(word, self.since, self.bounds.draft_wait, self.lost(word)));
        match self.seen {
            Seen::Gone => Some(self.lost("pane_gone")),
            Seen::Other => short("pane_other"),
            Seen::Nothing => short("tmux_silent"),
            Seen::CopyMode => long("copy_mode"),
            Seen::Composer(Composer::Dialog) => long("dialog"),
            Seen::Composer(Composer::Unknown) => long("no_composer"),
            Seen::Composer(_) if self.asks => long("dialog"),
            Seen::Composer(_) => None,
        }
    }

    /// What could not be reached any more has failed, unless the text was there already.
    fn lost(&self, word: &'static str) -> Step {
        if self.typed.attempts == 0 {
            Step::Fail(word)
        } else {
            Step::Expire(word)
        }
    }

    fn hold(&self, word: &'static str, since: Timestamp, within: Duration, end: Step) -> Step {
        if self.is_over(since, within) {
            end
        } else {
            Step::Wait(Some(word))
        }
    }

    /// Returns whether something has taken long enough, or all of it together has.
    fn is_over(&self, since: Timestamp, within: Duration) -> bool {
        let end = self
            .decided_at
            .plus(self.bounds.hold_for * 2 + self.bounds.confirm_timeout);
        self.now >= since.plus(within).min(end)
    }

    /// Waits for a sign that the agent has the text; longer while it works, since it may have put the text off.
    fn await_sign(&self, from: Timestamp) -> Step {
        let within = if self.running {
            self.bounds.hold_for
        } else {
            self.bounds.confirm_timeout
        };
        if self.is_over(from, within) {
            Step::Expire("confirm_timeout")
        } else {
            Step::Wait(None)
        }
    }
}

#[cfg(test)]
#[path = "typing_tests.rs"]
mod tests;
