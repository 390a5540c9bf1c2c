//! How an agent's transcript is read from its beginning.

use std::borrow::Cow;

use journal::Timestamp;

use super::facts::Facts;
use super::json::Object;
use super::normal::Entry;
use crate::known::Known;
use crate::prompts::Authors;

/// Reads one line: notes what it says about the session, and adds its entries. An error is a broken line.
pub(crate) type ReadLine = for<'a> fn(&'a str, &mut Reader<'a, '_>) -> serde_json::Result<Read>;
/// Like [`ReadLine`], for a whole transcript.
pub(crate) type ReadWhole = for<'a> fn(&Text<'a>, &mut Reader<'a, '_>) -> Whole;

/// The text of a transcript, or of its end.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// All of it, if it begins with the transcript.
    pub(crate) whole: Option<&'a str>,
    /// Its lines, last one first.
    pub(crate) lines: Vec<&'a str>,
}

/// What a transcript is read with, and what was read.
#[derive(Debug)]
pub(crate) struct Reader<'a, 'r> {
    /// Who wrote a text.
    pub(crate) authors: &'r Authors<'r>,
    /// What is said of the session.
    pub(crate) facts: Facts,
    /// What happened in it.
    pub(crate) entries: Vec<Entry<'a>>,
}

impl<'a, 'r> Reader<'a, 'r> {
    pub(crate) fn new(authors: &'r Authors<'r>) -> Self {
        Self {
            authors,
            facts: Facts::default(),
            entries: Vec::new(),
        }
    }

    /// Adds a message in the user's role, whose author its text tells.
    pub(crate) fn user(&mut self, text: Cow<'a, str>, at: Timestamp) {
        self.entries.push(Entry::user(text, at, self.authors));
    }

    /// Keeps what the first line says about the session, as Claude Code and Qwen Code name it.
    pub(crate) fn place(&mut self, line: &Object<'_>) {
        let facts = &mut self.facts;
        for (known, name) in [
            (&mut facts.session, "sessionId"),
            (&mut facts.cwd, "cwd"),
            (&mut facts.branch, "gitBranch"),
            (&mut facts.host_version, "version"),
        ] {
            *known = known.take().or_else(|| line.owned(name));
        }
    }
}

/// How a transcript is read from its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Forward {
    /// Line by line.
    Lines(Lines),
    /// Whole: later records change earlier ones.
    Whole(ReadWhole),
}

impl Forward {
    /// See [`Lines`].
    pub(crate) const fn lines(known: fn() -> &'static Known, line: ReadLine) -> Self {
        Self::Lines(Lines { known, line })
    }
}

/// A transcript of JSON objects, one a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// The marks of lines that can hold anything of interest.
    pub(crate) known: fn() -> &'static Known,
    pub(crate) line: ReadLine,
}

impl Lines {
    /// Reads one line.
    pub(crate) fn read<'a>(&self, text: &'a str, reader: &mut Reader<'a, '_>) -> Read {
        if !(self.known)().marks(text) {
            return Read::Nothing;
        }
        (self.line)(text, reader).unwrap_or(Read::Broken)
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Nothing of interest.
    Nothing,
    /// Not JSON, or not of the agent's form.
    Broken,
    /// The transcript is not one of a person's session.
    Foreign,
    /// A task begins or ends; a message of a person within one begins no turn.
    Task,
    /// Entries of the session.
    Own {
        /// Whether a turn may begin here.
        may_begin: bool,
    },
}

/// What a whole transcript is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// It has the agent's format.
    pub is_own: bool,
    /// It is a person's session.
    pub is_persons: bool,
    /// Its lines that cannot be read.
    pub broken: usize,
}
