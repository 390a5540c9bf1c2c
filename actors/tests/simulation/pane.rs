//! A model of a tmux pane with an agent: the text in the composer, who types, and the submitted prompts.

use std::time::Duration;

use checkpoint::terminal::{Composer, Seen};
use journal::Timestamp;

use crate::rules::Broken;

/// What the program presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The text, by the attempt's own buffer.
    Paste(u32),
    Enter,
    Clear,
}

/// What tmux's condition compares: where the cursor was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look(Option<usize>);

/// The pane.
#[derive(Default)]
pub(crate) struct Pane {
    text: String,
    composer: String,
    pub(crate) dialog: bool,
    pub(crate) copy_mode: bool,
    pub(crate) other: bool,
    pub(crate) gone: bool,
    /// The next key is not done before tmux is awake again.
    pub(crate) falls_asleep: bool,
    pub(crate) overlooks: bool,
    /// How late the agent draws the next paste.
    pub(crate) lag: Duration,
    /// The clock.
    now: Timestamp,
    asleep: bool,
    waiting: Vec<(Look, Key)>,
    /// Prompts that the agent received and has not reported yet.
    unreported: Vec<String>,
    /// How often the agent was given the text.
    given: u32,
    shows_text: bool,
    /// When the agent draws what was pasted; until then the composer seems to be empty, as it was.
    draws_at: Option<Timestamp>,
}

impl Pane {
    /// Notes the text that the program is to type.
    pub(crate) fn expect(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    /// Returns the visible text of the composer.
    fn drawn(&self) -> &str {
        if self.draws_at.is_some_and(|at| self.now < at) {
            ""
        } else {
            &self.composer
        }
    }

    fn cursor(&self) -> Look {
        Look(
            (!self.dialog && !self.other && !self.gone && !self.copy_mode)
                .then(|| self.drawn().chars().count()),
        )
    }

    /// Time goes on.
    pub(crate) const fn is(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Returns whether the next key waits until tmux is awake again.
    pub(crate) const fn is_asleep(&self) -> bool {
        self.asleep || self.falls_asleep
    }

    /// Looks, as the program does.
    pub(crate) fn look(&self) -> (Look, Seen) {
        let seen = if self.gone {
            Seen::Gone
        } else if self.asleep {
            Seen::Nothing
        } else if self.other {
            Seen::Other
        } else if self.copy_mode {
            Seen::CopyMode
        } else if self.dialog {
            Seen::Composer(Composer::Dialog)
        } else if self.drawn().is_empty() {
            Seen::Composer(Composer::Empty)
        } else if self.drawn() == self.text {
            Seen::Composer(Composer::Ours)
        } else {
            Seen::Composer(Composer::Draft)
        };
        (self.cursor(), seen)
    }

    /// Returns whether the text is visible outside the composer.
    pub(crate) const fn shows_text(&self) -> bool {
        self.shows_text
    }

    /// Presses a key if the cursor has not moved. Returns whether it certainly was pressed.
    pub(crate) fn press(&mut self, look: Look, key: Key) -> Result<bool, Broken> {
        if let Key::Paste(attempt) = key {
            // The buffer of the attempt before is deleted first.
            self.waiting
                .retain(|(_, waiting)| *waiting != Key::Paste(attempt - 1));
        }
        self.asleep |= std::mem::take(&mut self.falls_asleep);
        if self.asleep {
            self.waiting.push((look, key));
            return Ok(false);
        }
        self.do_press(look, key)
    }

    /// tmux executes the commands that it received while asleep, in order.
    pub(crate) fn wakes(&mut self) -> Result<(), Broken> {
        self.asleep = false;
        std::mem::take(&mut self.waiting)
            .into_iter()
            .try_for_each(|(look, key)| self.do_press(look, key).map(drop))
    }

    fn do_press(&mut self, look: Look, key: Key) -> Result<bool, Broken> {
        if look.0.is_none() || self.cursor() != look {
            return Ok(false);
        }
        match key {
            Key::Paste(_) if self.composer.is_empty() => {
                self.composer.clone_from(&self.text);
                self.draws_at = Some(self.now.plus(std::mem::take(&mut self.lag)));
            }
            Key::Paste(_) => return Err(format!("it was pasted behind {:?}", self.composer)),
            Key::Enter if self.composer == self.text => self.enters(),
            Key::Enter => return Err(format!("Enter was pressed for {:?}", self.composer)),
            Key::Clear if self.composer == self.text => {
                return Err("our own text was cleared".into());
            }
            Key::Clear => self.composer.clear(),
        }
        if self.given > 1 {
            return Err(format!("the agent was given the text {} times", self.given));
        }
        Ok(true)
    }

    /// A person types on; whatever a person does is drawn at once.
    pub(crate) fn types(&mut self) {
        if self.cursor().0.is_some() {
            self.draws_at = None;
            self.composer.push_str("and ");
        }
    }

    /// A person takes everything away.
    pub(crate) fn clears(&mut self) {
        if self.cursor().0.is_some() {
            self.draws_at = None;
            self.composer.clear();
        }
    }

    /// A person presses Enter.
    pub(crate) fn enters(&mut self) {
        if self.cursor().0.is_none()
            || self.composer.is_empty()
            || std::mem::take(&mut self.overlooks)
        {
            return;
        }
        self.draws_at = None;
        let prompt = std::mem::take(&mut self.composer);
        if prompt == self.text {
            self.given += 1;
            self.shows_text = true;
        }
        self.unreported.push(prompt);
    }

    /// Submitted text scrolls off the screen.
    pub(crate) const fn scrolls(&mut self) {
        self.shows_text = false;
    }

    /// Returns what the agent was given since the last time.
    pub(crate) fn take_told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unreported)
    }
}
