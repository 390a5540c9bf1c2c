//! How an agent's transcript is read from its beginning.

use std::fmt;

use super::facts::Facts;
use super::normal::Entry;
use crate::prompts::Authors;

/// Reads one line: notes what it says about the session, and adds its entries.
pub(crate) type ReadLine =
    for<'a> fn(&'a str, &Authors<'_>, &mut Facts, &mut Vec<Entry<'a>>) -> Read;
/// Like [`ReadLine`], for a whole transcript.
pub(crate) type ReadWhole =
    for<'a> fn(&'a str, &Authors<'_>, &mut Facts, &mut Vec<Entry<'a>>) -> Whole;

/// How a transcript is read from its beginning.
#[derive(Clone, Copy)]
pub enum Forward {
    /// Line by line.
    Lines(ReadLine),
    /// Whole: later records change earlier ones.
    Whole(ReadWhole),
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines(_) => "Lines",
            Self::Whole(_) => "Whole",
        })
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
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
pub struct Whole {
    /// It has the agent's format.
    pub is_own: bool,
    /// It is a person's session.
    pub is_persons: bool,
    /// Its lines that cannot be read.
    pub broken: usize,
}
