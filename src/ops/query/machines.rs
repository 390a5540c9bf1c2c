//! Which machine a session of a collector's journal came from.

use journal::{Journal, SessionEntry};

use super::question::Result;
use crate::ops::views::SessionSource;

/// Returns where a session came from; `None` in the journal of its own machine.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn source(journal: &Journal, entry: &SessionEntry) -> Result<Option<SessionSource>> {
    if !journal.is_collector() {
        return Ok(None);
    }
    let origin = journal
        .event(entry.first_seq)?
        .and_then(|first| first.origin);
    Ok(origin.map(|origin| SessionSource {
        machine: origin.machine,
        journal: origin.journal,
    }))
}

/// Returns whether a session came from a machine; from any, if none is wanted.
///
/// # Errors
///
/// When the journal cannot be read.
pub(super) fn fits(journal: &Journal, entry: &SessionEntry, wanted: Option<&str>) -> Result<bool> {
    let Some(wanted) = wanted else {
        return Ok(true);
    };
    let source = source(journal, entry)?;
    Ok(source.is_some_and(|source| source.machine == wanted))
}
