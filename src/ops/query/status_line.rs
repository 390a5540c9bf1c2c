//! The line of a status bar. A status bar asks every few seconds, so what was read of a session is remembered until its
//! next event, and nothing waits for the store.

use std::path::Path;
use std::sync::Arc;

use actors::session_state;
use checkpoint::config::Config;
use checkpoint::state::SessionStatus;
use journal::{Journal, SessionEntry, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::open::Finder;
use super::question::Result;
use super::reader::Reader;
use super::seen::Seen;
use super::sessions::{find_session, of_agents};
use crate::ops::views::status_line::{of_many, of_none, of_one};

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

/// Returns whether a session is in a tmux pane.
fn is_in(seen: &Seen, pane: &str, tmux: Option<&str>) -> bool {
    // `socket,pid,session`, or a socket: a later server has the same one.
    let is_server = match (tmux, &seen.tmux) {
        (Some(asked), Some(own)) => {
            let server = asked.rsplit_once(',').map_or(asked, |(server, _)| server);
            own.strip_prefix(server)
                .is_some_and(|rest| rest.starts_with(','))
        }
        _ => true,
    };
    seen.pane.as_deref() == Some(pane) && is_server
}

impl Reader {
    /// Returns the line, or nothing while another caller still reads the sessions for the first time.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn line(&self, config: &Arc<Config>, of: &LineOf) -> Result<Value> {
        let Some(_one) = self.line.try_lock() else {
            return Ok(of_none());
        };
        let (journal, now) = (&self.journal, Timestamp::now());
        if let Some(wanted) = &of.session {
            return match named(journal, wanted) {
                Some(entry) => self.one(config, &entry, now),
                None => Ok(of_none()),
            };
        }
        let (mut needs_you, mut waiting, mut running) = (0, 0, 0);
        let mut in_pane: Option<(Timestamp, SessionEntry)> = None;
        let is_meant = |seen: &Seen| match (&of.pane, &of.project) {
            (Some(pane), _) => is_in(seen, pane, of.tmux.as_deref()),
            (None, Some(project)) => Path::new(&seen.project).starts_with(project),
            (None, None) => true,
        };
        for entry in of_agents(journal) {
            let look = |seen: &Seen| {
                let is_wanted = !seen.is_empty && is_meant(seen);
                is_wanted.then_some((seen.status(now), seen.last_at))
            };
            let Some((status, last_at)) = self.known.look(journal, &entry, now, look)? else {
                continue;
            };
            match status {
                SessionStatus::Ended => continue,
                SessionStatus::NeedsYou => needs_you += 1,
                SessionStatus::Waiting => waiting += 1,
                SessionStatus::Running => running += 1,
                SessionStatus::Idle => {}
            }
            if in_pane.as_ref().is_none_or(|(at, _)| *at < last_at) {
                in_pane = Some((last_at, entry));
            }
        }
        match (&of.pane, in_pane) {
            (None, _) => Ok(of_many(needs_you, waiting, running)),
            (Some(_), None) => Ok(of_none()),
            (Some(_), Some((_, entry))) => self.one(config, &entry, now),
        }
    }

    fn one(&self, config: &Arc<Config>, entry: &SessionEntry, now: Timestamp) -> Result<Value> {
        let journal = &self.journal;
        let state = session_state::load(journal, &entry.stream)?;
        if state.is_empty() {
            return Ok(of_none());
        }
        let open = self.known.open(&mut Finder::new(journal), entry, &state)?;
        let start = state.clock_start(config.settings.timer, now);
        Ok(of_one(
            entry.stream.session,
            (state.status(now), state.is_muted(now)),
            (open.len(), state.blocks_this_turn()),
            start.map(|start| now.millis_since(start)),
        ))
    }
}

/// Finds a session by its name. Agents name theirs by a UUID, which needs no look at all sessions.
fn named(journal: &Journal, wanted: &str) -> Option<SessionEntry> {
    let exact = Uuid::try_parse(wanted).ok();
    let exact = exact.and_then(|session| journal.session(session));
    exact.or_else(|| find_session(journal, wanted).ok())
}
