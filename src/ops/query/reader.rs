//! What reads a journal and remembers what it read.

use actors::trust::Trust;
use journal::Journal;
use parking_lot::Mutex;

use super::cursor::Walks;
use super::seen::Known;

/// Answers queries about a journal, and remembers the position of readers that follow a session.
pub(crate) struct Reader {
    pub(super) journal: Journal,
    pub(super) walks: Walks,
    pub(super) trust: Trust,
    /// Held while a status line is made.
    pub(super) line: Mutex<()>,
    /// What is remembered of sessions between two looks at all of them.
    pub(crate) known: Known,
}

impl Reader {
    /// Makes one that remembers nothing yet.
    pub(crate) fn new(journal: Journal, trust: Trust) -> Self {
        Self {
            journal,
            trust,
            walks: Walks::default(),
            known: Known::default(),
            line: Mutex::default(),
        }
    }
}
