//! Phase checkpoints as the journal knows them.

use checkpoint::phase::{Phase, Phases, Scope};
use journal::{Journal, Stream};

/// Reads all phase checkpoints of a journal.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn load(journal: &Journal) -> journal::Result<Phases> {
    let events = journal.stream(Stream::phases().session, 0, usize::MAX)?;
    Ok(Phases::fold(&events))
}

/// Returns the latest phase checkpoint whose work is not over (003 FR-4): what a new session may resume.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn latest_incomplete(journal: &Journal, scope: &Scope) -> journal::Result<Option<Phase>> {
    Ok(load(journal)?.latest_incomplete(scope).cloned())
}
