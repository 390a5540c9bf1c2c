//! Orders for one session: let its next stop pass, switch it off or on, restart its agent. An order is an event like any
//! other. The daemon journals it, or without a daemon the command does; only a restart needs the daemon.

use std::time::Duration;

use checkpoint::config::parse_duration;
use journal::{Agent, Draft, Event, Journal, SessionEntry, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Failure, Result};
use crate::ops::query;

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Let the next stop pass (spec DECIDE-4).
    Clear,
    /// Switch it off, for a period or for good.
    Mute(Option<Duration>),
    /// Switch it on again.
    Unmute,
}

impl Order {
    /// Parses the duration of a mute.
    ///
    /// # Errors
    ///
    /// If the text is not a duration, or is missing.
    pub(crate) fn mute(period: Option<&str>) -> Result<Self> {
        let Some(period) = period else {
            return Ok(Self::Mute(None));
        };
        match parse_duration(period) {
            Ok(Duration::ZERO) => Err(Failure::usage("a mute of no length changes nothing")
                .hint("end one with `checkpointd unmute`")),
            Ok(period) => Ok(Self::Mute(Some(period))),
            Err(problem) => Err(Failure::usage(problem)),
        }
    }

    /// Returns the word of the path that takes the order.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Mute(_) => "mute",
            Self::Unmute => "unmute",
        }
    }

    /// Returns what the path takes.
    pub(crate) fn body(&self) -> Vec<u8> {
        let period = if let Self::Mute(Some(period)) = self {
            Some(format!("{}ms", period.as_millis()))
        } else {
            None
        };
        serde_json::to_vec(&MuteBody { period }).expect("plain data")
    }

    fn event(&self, now: Timestamp) -> Event {
        match self {
            Self::Clear => Event::CheckpointCleared {},
            Self::Mute(period) => Event::Muted {
                until: period.map(|period| now.plus(period)),
            },
            Self::Unmute => Event::Unmuted {},
        }
    }
}

/// Returns the event that an order makes. Two orders are two events, however alike they are.
pub(crate) fn draft(entry: &SessionEntry, order: &Order) -> Draft {
    let at = Timestamp::now();
    Draft {
        stream: entry.stream.clone(),
        at,
        id: Uuid::now_v7(),
        event: order.event(at),
        payload: None,
    }
}

/// Returns the JSON answer to an order.
pub(crate) fn answer(entry: &SessionEntry, event: &Event, seq: u64) -> Ordered {
    let until = if let Event::Muted { until } = event {
        *until
    } else {
        None
    };
    Ordered {
        session: entry.stream.session,
        native_session: entry.stream.native(),
        agent: entry.stream.agent,
        did: event.kind().to_owned(),
        until,
        seq,
    }
}

/// The result of an order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ordered {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    /// The kind of the event that the order made.
    pub(crate) did: String,
    /// When a mute ends; `None` if it has no end.
    pub(crate) until: Option<Timestamp>,
    pub(crate) seq: u64,
}

/// The outcome of an order to restart an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RestartAnswer {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    #[serde(flatten)]
    pub(crate) outcome: RestartOutcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RestartOutcome {
    Restarted {
        did: String,
        /// When the checkpoint after it is due.
        due: Timestamp,
        seq: u64,
    },
    Refused {
        error: String,
        /// One word.
        reason: String,
    },
}

/// Carries an order out on the journal itself, where no daemon runs.
///
/// # Errors
///
/// When there is no such session, or the journal cannot be written.
pub(crate) fn carry_out(journal: &Journal, session: &str, order: &Order) -> query::Result<Ordered> {
    let entry = query::find_session(journal, session)?;
    let draft = draft(&entry, order);
    let event = draft.event.clone();
    let appended = journal.append_wait(vec![draft])?;
    Ok(answer(
        &entry,
        &event,
        appended.first().map_or(0, |own| own.seq),
    ))
}

/// The duration of a mute.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MuteBody {
    /// A duration; `None` for a mute without end.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub(crate) period: Option<String>,
}
