//! The commands of a task, as far as they are kept.

use reading::text;

/// Bytes of a task's commands that are kept.
pub(super) const BYTES_MAX: usize = 400;

/// The commands of a task, one a line. Every reader collects them in this, so that what a file holds beyond the bound is
/// neither made nor stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands(String);

impl Commands {
    /// Adds a command, as far as there is room.
    pub(super) fn push(&mut self, command: &str) {
        if !self.0.is_empty() && self.0.len() < BYTES_MAX {
            self.0.push('\n');
        }
        self.0
            .push_str(text::head(command, BYTES_MAX - self.0.len()));
    }

    pub(super) fn lines(&self) -> std::str::Lines<'_> {
        self.0.lines()
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl<S: AsRef<str>> Extend<S> for Commands {
    fn extend<I: IntoIterator<Item = S>>(&mut self, commands: I) {
        let mut commands = commands.into_iter();
        while self.0.len() < BYTES_MAX
            && let Some(command) = commands.next()
        {
            self.push(command.as_ref());
        }
    }
}

impl<S: AsRef<str>> FromIterator<S> for Commands {
    fn from_iter<I: IntoIterator<Item = S>>(commands: I) -> Self {
        let mut all = Self::default();
        all.extend(commands);
        all
    }
}
