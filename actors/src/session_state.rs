//! The state of a session, folded from its events in the journal, and the snapshots that shorten the fold.

use checkpoint::state::{SNAPSHOT_VERSION, SessionState};
use journal::{Journal, Stream};

/// A state that took more events than this to load is worth a snapshot.
const SNAPSHOT_AFTER: usize = 32;
/// Events read per call while a session catches up.
const PAGE: usize = 1024;

/// Reads a session's state from a journal.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn load(journal: &Journal, stream: &Stream) -> journal::Result<SessionState> {
    let snapshot = journal
        .snapshot(stream.session)?
        .and_then(|(_, bytes)| unpack(&bytes));
    let mut state = snapshot.unwrap_or_else(|| SessionState::new(stream.clone()));
    // The snapshot saves the next load from folding these events again. Without it, that load only takes longer.
    if catch_up(journal, &mut state)? > SNAPSHOT_AFTER {
        let _ = save(journal, &state);
    }
    Ok(state)
}

/// Applies the events appended to a session since its state was last updated. Returns their number.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn catch_up(journal: &Journal, state: &mut SessionState) -> journal::Result<usize> {
    let mut applied = 0;
    loop {
        let page = journal.stream(state.session(), state.last_seq, PAGE)?;
        page.iter().for_each(|envelope| state.apply(envelope));
        applied += page.len();
        if page.len() < PAGE {
            return Ok(applied);
        }
    }
}

/// Keeps a snapshot of a session.
///
/// # Errors
///
/// When the journal cannot be written.
pub fn save(journal: &Journal, state: &SessionState) -> journal::Result<()> {
    let mut bytes = SNAPSHOT_VERSION.to_le_bytes().to_vec();
    bytes.extend(journal::codec::pack(state));
    journal.put_snapshot(state.session(), state.last_seq, &bytes)
}

fn unpack(bytes: &[u8]) -> Option<SessionState> {
    let (version, rest) = bytes.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*version) == SNAPSHOT_VERSION).then(|| journal::codec::unpack(rest))?
}
