//! A session in a list, and the one place that says what state it is in.

use checkpoint::state::{AGENT_FINISHED, SessionState};
use journal::{Agent, SessionEntry, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a session is doing, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionStatus {
    /// It cannot go on without a person: a dialog is open, or it failed.
    NeedsYou,
    /// It has finished and has had no new message since.
    Waiting,
    Running,
    Idle,
    Ended,
}

impl SessionStatus {
    /// Returns the words that `top` shows.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }

    /// Returns whether the session waits for a person.
    pub(crate) const fn waits(self) -> bool {
        matches!(self, Self::NeedsYou | Self::Waiting)
    }
}

/// A session in a list.
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
    /// The word for what it waits for.
    pub(crate) notification: Option<String>,
    pub(crate) dialog_up: bool,
    pub(crate) muted: bool,
    pub(crate) cleared: bool,
    /// When the checkpoint after a restart is due.
    pub(crate) restart: Option<Timestamp>,
    /// The decision whose checkpoint is on its way.
    pub(crate) delivering: Option<u64>,
    pub(crate) blocks_this_turn: u32,
    pub(crate) first_at: Timestamp,
    pub(crate) last_at: Timestamp,
    pub(crate) events: u64,
    pub(crate) injected: u64,
    pub(crate) passed: u64,
}

impl SessionRow {
    /// Makes the row of a session at `now`, on which it depends whether a mute is over.
    pub(crate) fn new(entry: &SessionEntry, state: &SessionState, now: Timestamp) -> Self {
        Self {
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

    pub(crate) fn status(&self) -> SessionStatus {
        // A dialog holds up an agent in the midst of its work.
        if self.dialog_up && !self.ended {
            SessionStatus::NeedsYou
        } else if self.running {
            SessionStatus::Running
        } else if self.ended {
            SessionStatus::Ended
        } else {
            match self.notification.as_deref() {
                None => SessionStatus::Idle,
                Some(AGENT_FINISHED) => SessionStatus::Waiting,
                Some(_) => SessionStatus::NeedsYou,
            }
        }
    }

    /// Returns the word for what it waits for, if it waits for a person.
    pub(crate) fn why(&self) -> Option<&str> {
        self.notification
            .as_deref()
            .filter(|_| self.status().waits())
    }

    /// Returns the words for what applies to its next stop, and for what is on its way.
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

/// The names of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionName {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    pub(crate) last_at: Timestamp,
}

impl SessionName {
    pub(crate) fn new(entry: &SessionEntry) -> Self {
        Self {
            session: entry.stream.session,
            native_session: entry.stream.native(),
            agent: entry.stream.agent,
            last_at: entry.last_at,
        }
    }
}
