//! Requests about phase records (spec PHASE-1) and their answers. The daemon answers over its socket, and without
//! a daemon the command does; both call [`answer()`].
//!
//! Append, then act: an event first, then the file, then `seed.json`. What a crash leaves undone, the next request
//! does ([`folder`]).

mod folder;
pub(crate) mod lookup;
mod places;
mod request;
mod requests;
mod seed;
#[cfg(test)]
mod tests;

use actors::Shared;
use journal::Journal;
use parking_lot::Mutex;
use serde_json::Value;

use requests::PhaseRequests;

use crate::ops::refusal::{Result, journal_error};
use folder::Problem;
pub(crate) use places::Places;
pub(crate) use request::Request;

/// Serializes requests, because file names depend on the existing files.
static TURN: Mutex<()> = Mutex::new(());

/// Answers a request. Blocks on the disk.
///
/// # Errors
///
/// As [`crate::ops::refusal::Refused`] says.
pub(crate) fn answer(request: &Request, journal: &Journal, places: &Places) -> Result<Value> {
    let _turn = TURN.lock();
    journal.settle().map_err(journal_error)?;
    let requests = PhaseRequests { journal, places };
    match request {
        Request::Create {
            project,
            folder,
            checkpoint,
        } => requests.create(project.as_deref(), folder.as_deref(), checkpoint),
        Request::Show { id } => requests.show(id),
        Request::List { completed, scope } => requests.list(*completed, scope),
        Request::Detect { scope } => requests.detect(scope),
        Request::Complete { id } => requests.complete(id),
        Request::Cleanup {
            older_than,
            incomplete,
        } => requests.cleanup(older_than.as_deref(), *incomplete),
        Request::Rebuild {} => requests.rebuild(),
    }
}

/// Checks the folder as the daemon comes up, so that what other programs left there can be resumed. Blocks.
pub(crate) fn check_files(shared: &Shared) {
    let config = shared.config();
    let listed = Places::of(&shared.home, &config).and_then(|places| {
        let journal = &shared.journal;
        let _turn = TURN.lock();
        journal.settle().map_err(journal_error)?;
        let places = &places;
        PhaseRequests { journal, places }.reconcile(false)
    });
    match listed {
        Ok(found) => {
            for Problem { file, error } in found.problems {
                tracing::warn!(file, error, "A phase record's file does not fit.");
            }
        }
        Err((_, error)) => tracing::info!(error, "The phase records' files were not checked."),
    }
}
