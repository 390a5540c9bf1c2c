//! The line of a status bar. A status bar asks every few seconds, so what was read of a session is remembered until its
//! next event, and nothing waits for the store.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use actors::session_state;
use checkpoint::config::Config;
use checkpoint::state::{SessionState, SessionStatus};
use journal::{Journal, SessionEntry, Timestamp};
use serde::Deserialize;
use uuid::Uuid;

use super::open::Finder;
use super::question::Result;
use super::sessions::{find_session, of_agents};
use crate::ops::views::{LineCounts, LineSession, StatusLine};

/// Which sessions; all of them, if none of these is given.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct LineOf {
    pub(crate) session: Option<String>,
    /// A tmux pane.
    pub(crate) pane: Option<String>,
    /// The socket of the tmux server that has the pane.
    pub(crate) tmux: Option<String>,
    /// A folder.
    pub(crate) project: Option<String>,
}

/// What is remembered of sessions between two lines.
#[derive(Debug, Default)]
pub(crate) struct Lines(Mutex<HashMap<Uuid, Known>>);

#[derive(Clone, Debug)]
struct Known {
    /// The session's last event when it was read.
    seq: u64,
    is_empty: bool,
    status: SessionStatus,
    /// When its status becomes another by itself, and which.
    later: Option<(Timestamp, SessionStatus)>,
    project: String,
    pane: Option<String>,
    tmux: Option<String>,
    last_at: Timestamp,
    /// Read only if needed.
    open: Option<usize>,
}

impl Known {
    fn new(entry: &SessionEntry, state: &SessionState, now: Timestamp) -> Self {
        let place = |name| state.place.env(name).map(str::to_owned);
        let quiet = state.quiet_after().filter(|quiet| *quiet > now);
        Self {
            seq: entry.last_seq,
            is_empty: state.is_empty(),
            status: state.status(now),
            later: quiet.map(|quiet| {
                let then = Timestamp::from_micros(quiet.as_micros() + 1);
                (quiet, state.status(then))
            }),
            project: state.project().to_owned(),
            pane: place("TMUX_PANE"),
            tmux: place("TMUX"),
            last_at: entry.last_at,
            open: None,
        }
    }

    fn status(&self, now: Timestamp) -> SessionStatus {
        match self.later {
            Some((at, later)) if now > at => later,
            _ => self.status,
        }
    }

    fn is_in(&self, pane: &str, tmux: Option<&str>) -> bool {
        // `socket,pid,session`, or a socket: a later server has the same one.
        let is_server = match (tmux, &self.tmux) {
            (Some(asked), Some(own)) => {
                let server = asked.rsplit_once(',').map_or(asked, |(server, _)| server);
                own.strip_prefix(server)
                    .is_some_and(|rest| rest.starts_with(','))
            }
            _ => true,
        };
        self.pane.as_deref() == Some(pane) && is_server
    }
}

impl Lines {
    /// Returns the line, or nothing while another caller still reads the sessions for the first time.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn line(
        &self,
        journal: &Journal,
        config: &Arc<Config>,
        of: &LineOf,
    ) -> Result<StatusLine> {
        let Ok(mut known) = self.0.try_lock() else {
            return Ok(StatusLine::default());
        };
        let now = Timestamp::now();
        if let Some(wanted) = &of.session {
            return match named(journal, wanted) {
                Some(entry) => one(journal, config, &mut known, &entry, now),
                None => Ok(StatusLine::default()),
            };
        }
        let mut counts = LineCounts::default();
        let mut in_pane: Option<(Timestamp, SessionEntry)> = None;
        for entry in of_agents(journal) {
            let seen = look(journal, &mut known, &entry, now)?;
            let status = seen.status(now);
            if seen.is_empty || status == SessionStatus::Ended {
                continue;
            }
            if let Some(pane) = &of.pane {
                let is_newest = in_pane.as_ref().is_none_or(|(at, _)| *at < seen.last_at);
                if is_newest && seen.is_in(pane, of.tmux.as_deref()) {
                    in_pane = Some((seen.last_at, entry));
                }
                continue;
            }
            let project = of.project.as_ref();
            if project.is_some_and(|project| !Path::new(&seen.project).starts_with(project)) {
                continue;
            }
            match status {
                SessionStatus::NeedsYou => counts.needs_you += 1,
                SessionStatus::Waiting => counts.waiting += 1,
                SessionStatus::Running => counts.running += 1,
                SessionStatus::Idle | SessionStatus::Ended => {}
            }
        }
        match (&of.pane, in_pane) {
            (None, _) => Ok(StatusLine::of_many(counts)),
            (Some(_), None) => Ok(StatusLine::default()),
            (Some(_), Some((_, entry))) => one(journal, config, &mut known, &entry, now),
        }
    }
}

/// Finds a session by its name. Agents name theirs by a UUID, which needs no look at all sessions.
fn named(journal: &Journal, wanted: &str) -> Option<SessionEntry> {
    let exact = Uuid::try_parse(wanted).ok();
    let exact = exact.and_then(|session| journal.session(session));
    exact.or_else(|| find_session(journal, wanted).ok())
}

/// Returns the known facts about a session, read again if it has a new event.
fn look<'a>(
    journal: &Journal,
    known: &'a mut HashMap<Uuid, Known>,
    entry: &SessionEntry,
    now: Timestamp,
) -> Result<&'a mut Known> {
    let session = entry.stream.session;
    let is_current = known
        .get(&session)
        .is_some_and(|known| known.seq == entry.last_seq);
    if !is_current {
        let state = session_state::load(journal, &entry.stream)?;
        known.insert(session, Known::new(entry, &state, now));
    }
    Ok(known.get_mut(&session).expect("just inserted"))
}

fn one(
    journal: &Journal,
    config: &Arc<Config>,
    known: &mut HashMap<Uuid, Known>,
    entry: &SessionEntry,
    now: Timestamp,
) -> Result<StatusLine> {
    let state = session_state::load(journal, &entry.stream)?;
    if state.is_empty() {
        return Ok(StatusLine::default());
    }
    let blocked = state.blocks_this_turn();
    let seen = look(journal, known, entry, now)?;
    let open = match seen.open {
        Some(open) => open,
        None => {
            let found = Finder::new(journal).find(entry, &state)?;
            found.map_or(0, |found| found.items.len())
        }
    };
    seen.open = Some(open);
    let start = state.clock_start(config.settings.timer, now);
    Ok(StatusLine::of_one(LineSession {
        session: entry.stream.session,
        status: state.status(now),
        muted: state.is_muted(now),
        open,
        blocked,
        turn_ms: start.map(|start| now.millis_since(start)),
    }))
}
