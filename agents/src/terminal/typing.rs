//! The steps of typing one checkpoint: from the steps so far and the present screen to the next step
//! (spec DELIV-9 to DELIV-12).
//!
//! Two rules come before all others. A text is pasted a second time only if it is certain that it is nowhere. And Enter
//! is pressed only while our text is in the composer, whole and alone: with anything else on the screen it could approve
//! a tool call, or send a person's draft.

use std::time::Duration;

use journal::Timestamp;
use serde::{Deserialize, Serialize};

use super::text_box::Composer;

/// The steps of a delivery that are journaled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// Pastes that were begun.
    pub attempts: u32,
    /// When the last one was begun.
    pub attempted_at: Option<Timestamp>,
    /// When the last one was done; none if that is not journaled.
    pub pasted_at: Option<Timestamp>,
    /// The agent's process then.
    pub pid: Option<u32>,
    /// How often Enter was pressed, or was about to be.
    pub enters: u32,
    /// When Enter was pressed last.
    pub entered_at: Option<Timestamp>,
    /// The obstacle that it waited for last.
    pub held: Option<String>,
}

/// The present sight of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The pane is gone.
    Gone,
    /// The agent is not the program that keys reach.
    Other,
    /// A person scrolls back in the pane, so that keys would not reach the agent.
    CopyMode,
    /// tmux did not answer.
    Nothing,
    /// The agent's screen.
    Composer(Composer),
}

/// How to treat a half-typed draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draft {
    /// Wait until it is gone.
    Wait,
    /// Clear it.
    Clear,
}

/// The bounds of a delivery by typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// From a paste to its Enter, and from an Enter to the next look.
    pub settle: Duration,
    /// From the Enter to giving up on a sign that the agent has the text.
    pub confirm_timeout: Duration,
    /// How to treat a draft.
    pub draft: Draft,
    /// How long to wait for a draft, or another program in the pane, to go.
    pub draft_wait: Duration,
    /// How long to wait for a dialog or copy mode to end, from the decision on.
    pub hold_for: Duration,
    /// The most pastes, and the most Enters.
    pub attempts: u32,
}

/// Everything that the next step depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The steps so far.
    pub typed: &'a Typed,
    /// The present sight.
    pub seen: Seen,
    /// When the checkpoint was decided.
    pub decided_at: Timestamp,
    /// Since when the sight has been the same.
    pub since: Timestamp,
    /// The present time.
    pub now: Timestamp,
    /// The agent has reported a question that is not answered yet.
    pub asks: bool,
    /// The agent works, so that it may take the text up later.
    pub running: bool,
    /// The screen shows our text outside the composer.
    pub is_said: bool,
    /// If the agent had the text, its transcript or its prompt hook would show it.
    pub would_tell: bool,
    /// The limits in time and number.
    pub bounds: Bounds,
}

/// The next step. The words are those of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Look again soon; the word names the obstacle, if there is one.
    Wait(Option<&'static str>),
    /// Clear the draft.
    Clear,
    /// Paste the text.
    Paste,
    /// Journal that the text was pasted, which is missing in the journal.
    NotePasted,
    /// Press Enter.
    Enter,
    /// Give up: the text did not reach the agent.
    Fail(&'static str),
    /// Give up: whether the text reached the agent, or will, is not known.
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
            _ => match self.await_draft(Step::Fail) {
                Step::Wait(_) if self.bounds.draft == Draft::Clear => Step::Clear,
                step => step,
            },
        }
    }

    /// The daemon ended, or tmux did not answer, while the text was being pasted. Enter was not pressed, so a text that
    /// arrived is still in the composer, unless a person sent it or removed it.
    fn after_attempt(&self) -> Step {
        if let Some(step) = self.obstacle() {
            return step;
        }
        match self.seen {
            Seen::Composer(Composer::Ours) => Step::NotePasted,
            Seen::Composer(Composer::Empty) if !self.is_said => {
                let patience = self.bounds.settle * 2;
                if self.now < self.attempted_at().max(self.since).plus(patience) {
                    Step::Wait(None)
                } else if self.typed.attempts < self.bounds.attempts {
                    Step::Paste
                } else {
                    Step::Fail("not_pasted")
                }
            }
            Seen::Composer(Composer::Empty) => self.await_sign(self.attempted_at()),
            _ => self.await_draft(Step::Fail),
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
            // A slow agent may not have drawn it yet; and a person may have sent it, or removed it.
            Seen::Composer(Composer::Empty) => {
                let over = self.now >= pasted_at.max(self.since).plus(self.bounds.confirm_timeout);
                let is_nowhere = self.would_tell && !self.is_said && !self.running;
                if over && is_nowhere && self.typed.attempts < self.bounds.attempts {
                    Step::Paste
                } else {
                    self.await_sign(pasted_at.max(self.since))
                }
            }
            _ => self.await_draft(Step::Expire),
        }
    }

    fn attempted_at(&self) -> Timestamp {
        self.typed.attempted_at.unwrap_or_default()
    }

    fn after_enter(&self) -> Step {
        let entered_at = self.typed.entered_at.unwrap_or_default();
        let rested = self.now >= entered_at.plus(self.bounds.settle);
        let is_pending = self.seen == Seen::Composer(Composer::Ours) && !self.asks;
        if rested && is_pending && self.typed.enters < self.bounds.attempts {
            return Step::Enter;
        }
        self.await_sign(entered_at)
    }

    /// Returns what to do while nothing can be typed; none if the composer is there.
    fn obstacle(&self) -> Option<Step> {
        let long = |word| {
            let (since, within) = (self.decided_at, self.bounds.hold_for);
            Some(self.hold(word, since, within, Step::Expire(word)))
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

    /// An agent out of reach is a failure, unless the text was pasted already.
    fn lost(&self, word: &'static str) -> Step {
        if self.typed.attempts == 0 {
            Step::Fail(word)
        } else {
            Step::Expire(word)
        }
    }

    /// Waits for a person's draft to go.
    fn await_draft(&self, end: fn(&'static str) -> Step) -> Step {
        let word = "draft_present";
        self.hold(word, self.since, self.bounds.draft_wait, end(word))
    }

    fn hold(&self, word: &'static str, since: Timestamp, within: Duration, end: Step) -> Step {
        if self.is_over(since, within) {
            end
        } else {
            Step::Wait(Some(word))
        }
    }

    /// Returns whether a wait has taken long enough, or the whole delivery has.
    fn is_over(&self, since: Timestamp, within: Duration) -> bool {
        let whole = self.bounds.hold_for * 2 + self.bounds.confirm_timeout;
        let end = self.decided_at.plus(whole);
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
mod tests;
