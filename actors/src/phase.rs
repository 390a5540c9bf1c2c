//! Reading phase records from the journal.

use checkpoint::phase::{Phase, Phases, Scope};
use journal::{Journal, Stream};

/// Reads all phase records of a journal.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn load(journal: &Journal) -> journal::Result<Phases> {
    let events = journal.stream(Stream::phases().session, 0, usize::MAX)?;
    Ok(Phases::fold(&events))
}

/// Returns the latest phase record whose work is not complete (spec PHASE-5), for a new session to resume.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn latest_incomplete(journal: &Journal, scope: &Scope) -> journal::Result<Option<Phase>> {
    Ok(load(journal)?.latest_incomplete(scope).cloned())
}
