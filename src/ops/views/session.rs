//! A session in a list: its names, its status and its counts.

use std::path::Path;

use checkpoint::judging::OpenItem;
use checkpoint::state::{SessionState, SessionStatus};
use journal::{Agent, SessionEntry, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::source::SessionSource;
use crate::render::printable;

/// How people recognize a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTitle {
    /// The first message of a person, cut to one line.
    pub(crate) title: Option<String>,
    /// The branch that is checked out in its project now.
    pub(crate) branch: Option<String>,
    /// Its tmux pane.
    pub(crate) pane: Option<String>,
    /// Socket and process of the server of that pane: each server has panes of the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tmux_server: Option<String>,
}

impl SessionTitle {
    pub(crate) fn new(state: &SessionState, branch: Option<String>) -> Self {
        Self {
            title: state.title.clone(),
            branch,
            pane: state.place.env(PANE).map(str::to_owned),
            tmux_server: state.place.env("TMUX").and_then(tmux_server),
        }
    }

    /// Returns the title for people; of a session without one, its project's name.
    pub(crate) fn words(&self, project: &str) -> String {
        let name = || {
            let name = Path::new(project).file_name();
            name.map_or_else(
                || "no title".to_owned(),
                |name| name.to_string_lossy().into(),
            )
        };
        let title = self.title.as_deref().map(printable);
        title.unwrap_or_else(|| format!("({})", printable(&name())))
    }

    /// Returns branch and pane, in words.
    pub(crate) fn place(&self) -> String {
        let parts = [&self.branch, &self.pane];
        let parts: Vec<_> = parts
            .into_iter()
            .flatten()
            .map(|part| printable(part))
            .collect();
        if parts.is_empty() {
            "-".to_owned()
        } else {
            parts.join(" ")
        }
    }
}

/// The variable in which tmux names an agent's pane.
const PANE: &str = "TMUX_PANE";

/// Returns the server that the variable `TMUX` (`socket,pid,session`) names.
pub(crate) fn tmux_server(tmux: &str) -> Option<String> {
    Some(tmux.rsplit_once(',')?.0.to_owned())
}

/// What a session needs: the groups of the page and the order of all lists, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Need {
    /// A person: a dialog is open, or it failed.
    You,
    /// A look: its agent stopped and left something open.
    Open,
    /// Nothing: its agent works.
    Running,
    /// The next message: its agent finished.
    Finished,
    /// Nothing: it was closed, or quiet for a day.
    Nothing,
}

#[cfg(feature = "top")]
impl Need {
    /// Returns the words for people; none if it needs nothing, as the session's status says more then.
    pub(crate) const fn words(self) -> Option<&'static str> {
        match self {
            Self::You => Some("needs you"),
            Self::Open => Some("open"),
            Self::Running => Some("running"),
            Self::Finished => Some("waiting"),
            Self::Nothing => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionRow {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    /// Counts real user messages.
    pub(crate) turn: u64,
    pub(crate) running: bool,
    pub(crate) ended: bool,
    /// The word for what it waits for, as its agent said it.
    pub(crate) notification: Option<String>,
    pub(crate) dialog_up: bool,
    pub(crate) muted: bool,
    /// When the mute ends; none if it does not end by itself.
    pub(crate) muted_until: Option<Timestamp>,
    pub(crate) cleared: bool,
    /// When the checkpoint after a restart is due.
    pub(crate) restart: Option<Timestamp>,
    /// The decision whose delivery is open.
    pub(crate) delivering: Option<u64>,
    pub(crate) blocks_this_turn: u32,
    pub(crate) first_at: Timestamp,
    pub(crate) last_at: Timestamp,
    pub(crate) events: u64,
    pub(crate) injected: u64,
    pub(crate) passed: u64,
    pub(crate) status: SessionStatus,
    /// It needs no person, and its agent has been quiet for a day.
    pub(crate) earlier: bool,
    #[serde(flatten)]
    pub(crate) title: SessionTitle,
    /// The repository that its project is a clone of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    /// Only in a collector's journal.
    #[serde(flatten)]
    pub(crate) source: Option<SessionSource>,
    /// What it left open.
    #[serde(default)]
    pub(crate) open: Vec<OpenItem>,
    /// Its machine withholds a part of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) withheld: bool,
}

impl SessionRow {
    /// Makes the row of a session at `now`, on which it depends whether a mute is over. `branch` is its project's.
    pub(crate) fn new(
        entry: &SessionEntry,
        state: &SessionState,
        branch: Option<String>,
        now: Timestamp,
    ) -> Self {
        let status = state.status(now);
        Self {
            status,
            earlier: !status.is_urgent() && state.is_quiet(now),
            title: SessionTitle::new(state, branch),
            remote: state.remote.clone(),
            source: None,
            open: Vec::new(),
            withheld: state.withheld,
            session: entry.stream.session,
            native_session: entry.stream.native(),
            agent: entry.stream.agent,
            project: state.project().to_owned(),
            turn: state.turns,
            running: state.running,
            ended: state.ended_at.is_some(),
            notification: state.notification.clone(),
            dialog_up: state.dialog_up,
            muted: state.is_muted(now),
            muted_until: state.muted_until(now),
            cleared: state.cleared,
            restart: state.restart.map(|(_, due)| due),
            delivering: state.delivery.as_ref().map(|delivery| delivery.decision),
            blocks_this_turn: state.blocks_this_turn(),
            first_at: entry.first_at,
            last_at: entry.last_at,
            events: entry.events,
            injected: state.counts.injected,
            passed: state.counts.passed,
        }
    }

    /// Returns what it needs. Depends on what is open.
    pub(crate) fn need(&self) -> Need {
        match self.status {
            SessionStatus::NeedsYou => Need::You,
            SessionStatus::Running => Need::Running,
            _ if self.earlier => Need::Nothing,
            _ if !self.open.is_empty() => Need::Open,
            SessionStatus::Waiting => Need::Finished,
            SessionStatus::Idle | SessionStatus::Ended => Need::Nothing,
        }
    }

    /// Returns the key by which sessions are listed: by need, then the newest first.
    pub(crate) fn key(&self) -> (Need, std::cmp::Reverse<Timestamp>) {
        (self.need(), std::cmp::Reverse(self.last_at))
    }

    /// Returns the word for what it waits for, if it waits for a person.
    pub(crate) fn why(&self) -> Option<&str> {
        self.notification.as_deref().filter(|_| self.status.waits())
    }

    /// Returns the words for what applies to its next stop, and for its open delivery.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let flags = [
            ("cleared", self.cleared),
            ("dialog", self.dialog_up),
            ("asked", self.blocks_this_turn > 0),
            ("sending", self.delivering.is_some()),
            ("restart", self.restart.is_some()),
        ];
        let set = flags.into_iter().filter(|(_, is)| *is);
        set.map(|(word, _)| word).collect()
    }
}
