//! What is remembered of sessions between two looks at all of them, so that only those with new events are folded again.

use std::collections::HashMap;

use actors::session_state;
use checkpoint::judging::OpenItem;
use checkpoint::state::{SessionState, SessionStatus};
use journal::{Journal, SessionEntry, Timestamp};
use parking_lot::Mutex;
use uuid::Uuid;

use super::open::Finder;
use super::question::Result;

/// The facts of a session up to its last event.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The session's last event when it was read.
    seq: u64,
    /// No agent worked in it.
    pub(crate) is_empty: bool,
    status: SessionStatus,
    /// After this its agent is quiet, and its status another one.
    quiet: Option<(Timestamp, SessionStatus)>,
    pub(super) project: String,
    pub(super) pane: Option<String>,
    pub(super) tmux: Option<String>,
    pub(super) last_at: Timestamp,
    /// Read only if needed.
    open: Option<Vec<OpenItem>>,
}

impl Seen {
    fn new(entry: &SessionEntry, state: &SessionState, now: Timestamp) -> Self {
        let place = |name| state.place.env(name).map(str::to_owned);
        Self {
            seq: entry.last_seq,
            is_empty: state.is_empty(),
            status: state.status(now),
            quiet: state.quiet_after().map(|quiet| {
                let then = Timestamp::from_micros(quiet.as_micros() + 1);
                (quiet, state.status(then.max(now)))
            }),
            project: state.project().to_owned(),
            pane: place("TMUX_PANE"),
            tmux: place("TMUX"),
            last_at: entry.last_at,
            open: None,
        }
    }

    fn is_quiet(&self, now: Timestamp) -> bool {
        self.quiet.is_some_and(|(quiet, _)| now > quiet)
    }

    pub(super) fn status(&self, now: Timestamp) -> SessionStatus {
        match self.quiet {
            Some((quiet, later)) if now > quiet => later,
            _ => self.status,
        }
    }

    /// Returns whether it is listed before others. A person who has been waited for a day may never come back.
    pub(crate) fn is_urgent(&self, now: Timestamp) -> bool {
        let status = self.status(now);
        status.is_urgent() && (status != SessionStatus::Waiting || !self.is_quiet(now))
    }
}

/// The sessions that were seen.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<Uuid, Seen>>);

impl Known {
    /// Hands the facts about a session to `read`, found again if it has a new event.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn look<T>(
        &self,
        journal: &Journal,
        entry: &SessionEntry,
        now: Timestamp,
        read: impl FnOnce(&Seen) -> T,
    ) -> Result<T> {
        let session = entry.stream.session;
        if let Some(seen) = self.0.lock().get(&session)
            && seen.seq == entry.last_seq
        {
            return Ok(read(seen));
        }
        let state = session_state::load(journal, &entry.stream)?;
        let seen = Seen::new(entry, &state, now);
        let found = read(&seen);
        self.0.lock().insert(session, seen);
        Ok(found)
    }

    /// Returns what a session with this state left open.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn open(
        &self,
        finder: &mut Finder<'_>,
        entry: &SessionEntry,
        state: &SessionState,
    ) -> Result<Vec<OpenItem>> {
        let session = entry.stream.session;
        let known = self.0.lock().get(&session).cloned();
        let known = known.filter(|seen| seen.seq == entry.last_seq);
        if let Some(open) = known.as_ref().and_then(|seen| seen.open.clone()) {
            return Ok(open);
        }
        let found = finder.find(entry, state)?;
        let open = found.map(|found| found.items).unwrap_or_default();
        let seen = known.unwrap_or_else(|| Seen::new(entry, state, Timestamp::now()));
        let seen = Seen {
            open: Some(open.clone()),
            ..seen
        };
        self.0.lock().insert(session, seen);
        Ok(open)
    }
}
