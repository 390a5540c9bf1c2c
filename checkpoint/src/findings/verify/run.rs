//! A command that verifies something.

use super::kind::Kind;
use super::reach::Reach;
use super::unknown::Unknown;
use crate::findings::proof::Position;
use crate::findings::trace::Outcome;
use crate::project::covering::Family;
use crate::project::resolve::Placed;

/// One command that verifies something.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) position: Position,
    /// As the line has it; a task before it was resolved.
    pub(super) program: String,
    pub(super) does: Does,
    pub(super) outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Does {
    /// A tool verifies the code of a language.
    Tool {
        kind: Kind,
        family: Family,
        reach: Reach,
    },
    Command(Placed),
    /// A command of the project is run that is not known.
    Unknown(Unknown),
    /// A request to a server.
    Asks,
    /// A page that was opened or read.
    Looks,
    /// A kernel runs cells of a notebook.
    RunsNotebooks,
}
