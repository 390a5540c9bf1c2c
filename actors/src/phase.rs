//! Reading phase records from the journal.

use checkpoint::phase::Phases;
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
