//! The questions that a journal answers, and the form of the answers.

use checkpoint::record::{Content, Found};
use checkpoint::state::SessionStatus;
use journal::{Agent, Event, Reason, Timestamp, Verdict};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Failure;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "query", rename_all = "snake_case")]
pub(crate) enum Query {
    /// Sessions, what waits for a person first, one a line.
    Sessions(Sessions),
    State {
        /// An id, the beginning of one, or `last`.
        session: String,
        /// Ends with this event.
        seq: Option<u64>,
        /// Ends at this time.
        time: Option<Timestamp>,
        /// The machine whose sessions are searched.
        #[serde(default)]
        machine: Option<String>,
    },
    /// The state of a session in the form that `preview` decides by; for internal use.
    Folded {
        /// An id, the beginning of one, or `last`.
        session: String,
    },
    /// Events in order, one on each line.
    Events(Events),
    /// A session's events with their places in its turns, one a line.
    Timeline {
        /// An id, the beginning of one, or `last`.
        session: String,
        /// Restricts the answer to this turn.
        turn: Option<u64>,
        /// The first event.
        from: u64,
        /// The machine whose sessions are searched.
        #[serde(default)]
        machine: Option<String>,
    },
    /// The same with no more than the page's lanes show of each event.
    Lanes {
        /// An id, the beginning of one, or `last`.
        session: String,
        /// The first event.
        from: u64,
    },
    /// Decisions in order, one a line.
    Audit(Audit),
    /// What checkpoints did and what they cost, by rule and for each agent in each project.
    Summary(Audit),
    /// What followed checkpoints, beside turns that were held back.
    Effect(Audit),
    /// One decision with its evidence and policy.
    Explain {
        /// The sequence number of the decision or of its stop; `None` for the last checkpoint, or where none was sent
        /// for the last decision.
        seq: Option<u64>,
        /// The session whose last decision is explained.
        session: Option<String>,
        /// Of this machine; then `seq` is the number in its journal.
        #[serde(default)]
        machine: Option<String>,
    },
    /// Decide again all that was decided.
    Verify {
        /// Restricts the answer to this session.
        session: Option<String>,
        /// Restricts the answer to this machine.
        #[serde(default)]
        machine: Option<String>,
    },
    /// Decide again all that was decided, under other settings.
    WhatIf {
        /// Restricts the answer to this session.
        session: Option<String>,
        /// Restricts the answer to this machine.
        #[serde(default)]
        machine: Option<String>,
        /// The file's name.
        name: String,
        text: String,
    },
    /// One event with its payload.
    Event {
        /// Its number.
        seq: u64,
    },
    /// Counts of the last days, for plots.
    Trends {
        /// The number of days, up to today.
        days: u32,
        /// Restricts the answer to this machine.
        #[serde(default)]
        machine: Option<String>,
    },
    /// What a session has left open, by the answer table.
    Open {
        session: String,
        #[serde(default)]
        machine: Option<String>,
    },
    /// What all sessions of a repository say about the contents of changed files.
    Range(Range),
    /// Sessions whose agents switched their checkpoints off since a time.
    Unguarded { since: Timestamp },
    /// What a range says up to an event, for a record that names the journal's head.
    Again(Again),
    /// What `status` shows of the journal.
    Overview,
    /// The events of each kind and agent.
    Stats,
    /// What leaves the machine, line by line.
    Outgoing(Outgoing),
    /// Whether intake log and store agree.
    VerifyJournal,
}

impl Query {
    /// Asks for the state of a session as it is now.
    pub(crate) const fn state(session: String) -> Self {
        Self::State {
            session,
            seq: None,
            time: None,
            machine: None,
        }
    }

    /// Returns whether the answer depends on what a person ran just before.
    pub(crate) const fn is_about_open_work(&self) -> bool {
        match self {
            Self::Sessions(wanted) => wanted.open,
            Self::Open { .. } | Self::Range(_) | Self::Again(_) => true,
            _ => false,
        }
    }

    /// Returns whether the answer is a list, which may be empty.
    pub(crate) const fn is_list(&self) -> bool {
        match self {
            Self::Sessions(_) => true,
            Self::Audit(audit) => audit.session.is_none(),
            _ => false,
        }
    }
}

/// The changed files of a range, and where their repository is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) files: Vec<Content>,
    /// The git directory that its work trees share.
    pub(crate) git_dir: String,
    /// Host and path of the repository that it is a clone of: sessions of other clones count, too.
    pub(crate) remote: Option<String>,
}

/// The range of a record, and the head that it names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Again {
    pub(crate) range: Range,
    pub(crate) journal: String,
    pub(crate) seq: u64,
}

/// What a journal says about the range of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Remade {
    /// The record is of another journal.
    Elsewhere,
    /// The journal ends before the event that the record names.
    Shorter,
    /// What was found up to that event.
    Here {
        found: Box<Found>,
        /// Whether later events give a file another answer.
        is_older: bool,
    },
}

/// Selects what leaves the machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outgoing {
    /// The level at which events are sent.
    pub(crate) level: String,
    pub(crate) machine: String,
    /// Only the lines of events since then, without the heads of runs.
    pub(crate) since: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sessions {
    /// In one of these states; empty for any.
    pub(crate) status: Vec<SessionStatus>,
    pub(crate) agent: Option<Agent>,
    /// This folder, or below it.
    pub(crate) project: Option<String>,
    /// With events since this time.
    pub(crate) since: Option<Timestamp>,
    /// With this in a name, the title, the branch or the project; case does not matter.
    pub(crate) text: Option<String>,
    pub(crate) machine: Option<String>,
    /// Maximum number of sessions.
    pub(crate) limit: Option<usize>,
    /// Also those in which no agent worked.
    pub(crate) all: bool,
    /// Only those that left something open.
    pub(crate) open: bool,
}

impl Sessions {
    /// Returns whether some sessions are left out.
    pub(crate) const fn is_filtered(&self) -> bool {
        !self.status.is_empty()
            || self.agent.is_some()
            || self.project.is_some()
            || self.since.is_some()
            || self.machine.is_some()
            || self.text.is_some()
            || self.limit.is_some()
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Events {
    /// The first event.
    pub(crate) from: u64,
    /// Or: the last ones, at most this many.
    pub(crate) last: Option<u64>,
    /// Restricts the answer to this session.
    pub(crate) session: Option<String>,
    /// Restricts the answer to this agent.
    pub(crate) agent: Option<Agent>,
    /// Only of sessions in this folder or below it.
    pub(crate) project: Option<String>,
    /// Restricts the answer to this machine.
    pub(crate) machine: Option<String>,
    /// Restricts the answer to this kind.
    #[serde(deserialize_with = "known_kind")]
    pub(crate) kind: Option<String>,
    pub(crate) payloads: bool,
    /// The form of `journal export` ([`journal::codec::to_export`]).
    pub(crate) export: bool,
}

/// Refuses a kind that does not exist: no event would ever be of it.
fn known_kind<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<String>, D::Error> {
    let kind = Option::<String>::deserialize(deserializer)?;
    match kind.as_deref().filter(|kind| !Event::KINDS.contains(kind)) {
        Some(unknown) => Err(D::Error::custom(format!(
            "there is no kind `{unknown}`: {}",
            Event::KINDS.join(", ")
        ))),
        None => Ok(kind),
    }
}

impl Events {
    /// Returns whether events of every kind are selected.
    pub(super) const fn takes_all(&self) -> bool {
        self.session.is_none()
            && self.agent.is_none()
            && self.project.is_none()
            && self.machine.is_none()
            && self.kind.is_none()
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Audit {
    pub(crate) session: Option<String>,
    pub(crate) agent: Option<Agent>,
    /// Of sessions in this folder or below it.
    pub(crate) project: Option<String>,
    pub(crate) machine: Option<String>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) reason: Option<Reason>,
    /// The earliest time.
    pub(crate) since: Option<Timestamp>,
    /// The latest time.
    pub(crate) until: Option<Timestamp>,
    /// With this in the message, an action or an observation; case does not matter.
    pub(crate) text: Option<String>,
    /// Only decisions before this one.
    pub(crate) before: Option<u64>,
    /// The newest ones, at most this many.
    pub(crate) limit: Option<u64>,
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// What was asked for does not exist; a sentence says so.
    #[error("{0}")]
    NotFound(String),
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The client closed its connection.
    #[error("the client disconnected")]
    Gone,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Takes the lines of an answer, each a JSON object; returns false once the client has disconnected.
pub(crate) type Emit<'a> = dyn FnMut(Value) -> bool + 'a;

/// Emits one line.
pub(super) fn send(emit: &mut Emit<'_>, line: &impl Serialize) -> Result<()> {
    let line = serde_json::to_value(line).expect("answers are plain data");
    if emit(line) { Ok(()) } else { Err(Error::Gone) }
}

/// A sign of progress between the lines of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Progress {
    /// Work done, and all work.
    pub(crate) progress: (u64, u64),
}

impl Error {
    /// Returns the last line of an answer that was cut short.
    pub(crate) fn line(&self) -> Value {
        let kind = match self {
            Self::NotFound(_) => "not_found",
            Self::Journal(_) | Self::Gone => "journal",
        };
        json!({ "error": { "kind": kind, "text": self.to_string() } })
    }

    /// Reads what [`Self::line`] wrote; `None` for another line.
    pub(crate) fn read(line: &Value) -> Option<Failure> {
        let error = line.get("error")?;
        match (error["kind"].as_str()?, error["text"].as_str()?) {
            ("journal", text) => Some(Failure::unreachable(text)),
            (_, text) => Some(Failure::failed(text)),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Journal(error) => error.into(),
            other => Self::failed(other),
        }
    }
}
