//! Documents in the journal: reading them back, and finding the latest.

use std::collections::HashMap;
use std::path::Path;

use checkpoint::progress::Document;
use checkpoint::state::SessionState;
use journal::{Envelope, Event, Journal, Stream, Timestamp};
use parking_lot::Mutex;

use crate::session_state;

/// The most sessions that are searched for those of a project, the newest first.
const SESSIONS_MAX: usize = 200;

/// Serializes the writing of documents, so that the files follow the order of the journal.
pub(super) static TURN: Mutex<()> = Mutex::new(());

/// Why a document could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be carried out; the text says why, in one sentence.
    #[error("{0}")]
    Refused(String),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

/// Returns the project that a folder belongs to: the nearest folder above it with a `.git`, else the folder itself.
pub fn project_root(folder: &str) -> String {
    let given = Path::new(folder);
    let folder = given.canonicalize().unwrap_or_else(|_| given.to_owned());
    let root = folder
        .ancestors()
        .find(|above| above.join(".git").exists())
        .unwrap_or(&folder);
    root.display().to_string()
}

/// Reads a document and the path of its file from its event.
pub fn read(envelope: &Envelope) -> Option<(String, Document)> {
    match &envelope.event {
        Event::ProgressWritten { document, file, .. } => Document::from_json(document)
            .ok()
            .map(|document| (file.clone(), document)),
        _ => None,
    }
}

/// Returns the document of an event, if it has one.
pub(super) fn document(journal: &Journal, seq: u64) -> Result<Option<Document>, Error> {
    let read = journal.event(seq)?.as_ref().and_then(read);
    Ok(read.map(|(_, document)| document))
}

/// Returns the states of a project's sessions that have events since `since`, the newest first.
pub(super) fn sessions_of(
    journal: &Journal,
    project: &str,
    since: Timestamp,
) -> Result<Vec<SessionState>, Error> {
    let mut entries = journal.sessions();
    entries.retain(|entry| entry.stream.agent.is_agent() && entry.last_at >= since);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seq));
    let mut roots = HashMap::new();
    let mut states = Vec::new();
    for entry in entries.iter().take(SESSIONS_MAX) {
        let state = session_state::load(journal, &entry.stream)?;
        let folder = state.project().to_owned();
        let root = roots
            .entry(folder)
            .or_insert_with_key(|folder| project_root(folder));
        if root == project {
            states.push(state);
        }
    }
    Ok(states)
}

/// Returns the sequence number of the latest document of a session, or of a whole project.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn latest(
    journal: &Journal,
    project: &str,
    session: Option<&Stream>,
) -> Result<Option<u64>, Error> {
    if let Some(stream) = session {
        return Ok(session_state::load(journal, stream)?
            .progress
            .map(|written| written.seq));
    }
    let states = sessions_of(journal, project, Timestamp::from_micros(0))?;
    Ok(states
        .into_iter()
        .filter_map(|state| state.progress)
        .map(|written| written.seq)
        .max())
}
