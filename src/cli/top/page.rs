//! A page that was opened: a session's timeline, the explanation of a decision, or what a command prints.

use uuid::Uuid;

use super::ansi;
use crate::cli::text::timeline::Drawn;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// All turns of a session.
    Timeline(Uuid),
    /// A decision, by its event.
    Decision(u64),
    /// What checkpoints did, as `stats` prints it.
    Stats,
    /// The past stops that the present settings judge otherwise, as `replay` prints them.
    Replay,
}

/// What is on a page, or a sentence on why nothing is.
pub(crate) type Content = Result<Vec<Drawn>, String>;

/// An update of a page: the number of lines that stay and the lines after them, or the reason why it cannot be read.
pub(crate) type News = Result<(usize, Vec<Drawn>), String>;

/// A page and its scroll position.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) subject: Subject,
    /// `None` until it was read.
    pub(crate) content: Option<Content>,
    /// Lines without this text are not shown.
    pub(crate) filter: String,
    /// The line that the keys move, among those that are shown.
    pub(crate) cursor: usize,
    /// The first line on the screen, among those that are shown.
    pub(crate) first: usize,
}

impl Page {
    /// Creates a page that was not read yet.
    pub(crate) const fn new(subject: Subject) -> Self {
        Self {
            subject,
            content: None,
            filter: String::new(),
            cursor: 0,
            first: 0,
        }
    }

    /// Returns the lines that the filter lets through.
    pub(crate) fn lines(&self) -> Vec<&Drawn> {
        let wanted = self.filter.to_lowercase();
        let lines = self.content.iter().flatten().flatten();
        lines
            .filter(|line| {
                wanted.is_empty() || ansi::plain(&line.text).to_lowercase().contains(&wanted)
            })
            .collect()
    }

    /// Returns whether lines can be selected, as opposed to plain text.
    pub(crate) const fn has_cursor(&self) -> bool {
        matches!(self.subject, Subject::Timeline(_))
    }

    /// Returns whether it is what a command prints, where nothing can be done.
    pub(crate) const fn is_printed(&self) -> bool {
        matches!(self.subject, Subject::Stats | Subject::Replay)
    }

    /// Returns the decision in the chosen line.
    pub(crate) fn decision(&self) -> Option<u64> {
        self.lines()
            .get(self.cursor)
            .filter(|_| self.has_cursor())?
            .decision
    }

    /// Applies an update. A timeline opens at its end, and a view at the end follows new lines.
    pub(crate) fn show(&mut self, news: News, height: usize) {
        let is_at_end = self.content.is_none() || self.cursor + 1 >= self.lines().len();
        self.content = Some(news.map(|(stay, lines)| {
            let mut all = self.content.take().and_then(Result::ok).unwrap_or_default();
            all.truncate(stay);
            all.extend(lines);
            all
        }));
        self.move_by(
            if self.has_cursor() && is_at_end {
                isize::MAX
            } else {
                0
            },
            height,
        );
    }

    /// Moves by `by` lines, on a screen of `height` lines.
    pub(crate) fn move_by(&mut self, by: isize, height: usize) {
        let count = self.lines().len();
        if self.has_cursor() {
            self.cursor = self
                .cursor
                .saturating_add_signed(by)
                .min(count.saturating_sub(1));
            self.first = self
                .first
                .clamp((self.cursor + 1).saturating_sub(height), self.cursor);
        } else {
            self.first = self.first.saturating_add_signed(by);
        }
        self.first = self.first.min(count.saturating_sub(height));
    }
}
