//! Orders for one session: let its next stop pass, switch it off or on, show its pane, restart its agent. An order is an
//! event like any other. The daemon journals it, or without a daemon the command does; only a restart needs the daemon.
//! Page and `top` offer the same acts on a session's line.

use std::time::Duration;

use actors::session_state;
use checkpoint::config::parse_duration;
use checkpoint::demands;
use journal::{Agent, Draft, Event, Journal, SessionEntry, Timestamp, Verdict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{Failure, Result};
use crate::ops::query;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Let the next stop pass (spec DECIDE-4).
    Clear,
    /// Switch it off, for a period or for good.
    Mute(Option<Duration>),
    /// Switch it on again.
    Unmute,
    /// Say that a demand was not warranted, or take that back.
    Wrong(Mark),
    /// Have tmux show its pane.
    Pane,
}

/// The periods that page and `top` offer for a mute, besides one without end.
pub(crate) const MUTE_FOR: [&str; 3] = ["5m", "1h", "8h"];

/// What a person can do on a session's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    /// Go to its tmux pane.
    Pane,
    /// Copy the command that resumes it.
    Resume,
    /// Copy the last message that was sent.
    Message,
    /// Say that the last demand was wrong, or take that back.
    Wrong,
    Mute,
    Unmute,
    /// Let its next stop pass.
    Clear,
}

/// A person's word about the demands of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// Sequence number of the decision.
    pub(crate) decision: u64,
    /// The demand's number, from 1; `None` for all of them.
    #[serde(default)]
    pub(crate) item: Option<u32>,
    #[serde(default)]
    pub(crate) note: String,
    /// `false` takes an earlier mark back.
    #[serde(default = "yes")]
    pub(crate) wrong: bool,
}

const fn yes() -> bool {
    true
}

impl Mark {
    /// Refuses a mark for a decision that is not the session's, or that made no such demand.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    pub(crate) fn check(&self, journal: &Journal, entry: &SessionEntry) -> query::Result<()> {
        let refuse = |text: String| Err(query::Error::NotFound(text));
        let seq = self.decision;
        let found = journal.event(seq)?;
        let decision = match found.as_ref().map(|envelope| &envelope.event) {
            Some(Event::Decided(decision))
                if found
                    .as_ref()
                    .is_some_and(|envelope| envelope.stream == entry.stream) =>
            {
                decision
            }
            _ => return refuse(format!("event {seq} is not a decision of this session")),
        };
        if decision.verdict == Verdict::Pass {
            return refuse(format!(
                "decision {seq} let the stop pass: it demanded nothing"
            ));
        }
        let demands = demands::of(decision).len();
        match self.item {
            Some(item) if item == 0 || item as usize > demands => refuse(format!(
                "decision {seq} has {demands} demands, there is no number {item}"
            )),
            _ => Ok(()),
        }
    }
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
            Ok(Duration::ZERO) => Err(Failure::usage("a mute without a duration has no effect")
                .hint("end one with `checkpointd mute --off`")),
            Ok(period) => Ok(Self::Mute(Some(period))),
            Err(problem) => Err(Failure::usage(problem)),
        }
    }

    /// Returns the last part of the order's HTTP path.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Mute(_) => "mute",
            Self::Unmute => "unmute",
            Self::Wrong(_) => "wrong",
            Self::Pane => "pane",
        }
    }

    /// Returns the body of the order's HTTP request.
    pub(crate) fn body(&self) -> Value {
        match self {
            Self::Wrong(mark) => json!(mark),
            Self::Mute(Some(period)) => json!({ "for": format!("{}ms", period.as_millis()) }),
            _ => json!({}),
        }
    }

    /// Reads an order from its word and the body of its HTTP request.
    ///
    /// # Errors
    ///
    /// When there is no such order, or the body is not right.
    pub(crate) fn read(word: &str, body: Value) -> Result<Self> {
        fn options<T: DeserializeOwned>(body: Value) -> Result<T> {
            serde_json::from_value(body).map_err(Failure::usage)
        }
        match word {
            "mute" => return Self::mute(options::<MuteBody>(body)?.period.as_deref()),
            "wrong" => return options(body).map(Self::Wrong),
            _ => {
                let Nothing {} = options(body)?;
            }
        }
        match word {
            "clear" => Ok(Self::Clear),
            "unmute" => Ok(Self::Unmute),
            "pane" => Ok(Self::Pane),
            _ => Err(Failure::usage(format!("there is no order `{word}`"))),
        }
    }

    fn event(&self, now: Timestamp) -> Event {
        match self {
            Self::Clear => Event::CheckpointCleared {},
            Self::Mute(period) => Event::Muted {
                until: period.map(|period| now.plus(period)),
            },
            Self::Unmute => Event::Unmuted {},
            Self::Pane => Event::PaneShown {},
            Self::Wrong(mark) => Event::MarkedWrong {
                decision: mark.decision,
                item: mark.item,
                note: mark.note.clone(),
                wrong: mark.wrong,
            },
        }
    }
}

/// Where an order came from, as the payload of its event, which retention keeps. An order of a command has none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Author {
    pub(crate) by: View,
}

/// A view that a person acts in.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum View {
    /// Only the page itself says so.
    #[serde(skip_deserializing)]
    Page,
    Top,
}

/// The JSON answer to an order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ordered {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    /// The kind of the event that the order made.
    pub(crate) did: String,
    /// When a mute ends; `None` if it has no end.
    pub(crate) until: Option<Timestamp>,
    /// Which pane is shown now, or why no terminal shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<String>,
    pub(crate) seq: u64,
}

/// Carries an order out, and journals it; two orders are two events, even if they are equal. If tmux does not show a pane,
/// the answer is a sentence that says why, and nothing is journaled.
///
/// # Errors
///
/// When there is no such session, or the journal cannot be read or written.
pub(crate) fn carry_out(
    journal: &Journal,
    session: &str,
    order: &Order,
    by: Option<Author>,
) -> query::Result<std::result::Result<Ordered, String>> {
    // Includes events acknowledged a moment ago.
    journal.settle()?;
    let entry = query::find_session(journal, session)?;
    let mut shown = None;
    match order {
        Order::Wrong(mark) => mark.check(journal, &entry)?,
        Order::Pane => match show_pane(journal, &entry)? {
            Ok(said) => shown = Some(said),
            Err(why) => return Ok(Err(why)),
        },
        Order::Clear | Order::Mute(_) | Order::Unmute => {}
    }
    let at = Timestamp::now();
    let event = order.event(at);
    let mut answer = Ordered {
        session: entry.stream.session,
        native_session: entry.stream.native(),
        agent: entry.stream.agent,
        did: event.kind().to_owned(),
        until: match event {
            Event::Muted { until } => until,
            _ => None,
        },
        shown,
        seq: 0,
    };
    let appended = journal.append_wait(vec![Draft {
        stream: entry.stream,
        at,
        id: Uuid::now_v7(),
        event,
        payload: by.map(|by| json!(by).to_string()),
    }])?;
    answer.seq = appended.first().map_or(0, |own| own.seq);
    journal.settle()?;
    Ok(Ok(answer))
}

/// Has tmux show a session's pane.
fn show_pane(
    journal: &Journal,
    entry: &SessionEntry,
) -> query::Result<std::result::Result<String, String>> {
    if query::source(journal, entry)?.is_some() {
        return Ok(Err("the session is on another machine".to_owned()));
    }
    let state = session_state::load(journal, &entry.stream)?;
    let pane = state.place.env("TMUX_PANE");
    let is_seen = actors::tmux::show_pane(state.place.env("TMUX"), pane);
    let pane = pane.unwrap_or_default();
    Ok(is_seen.map(|is_seen| match is_seen {
        true => format!("tmux shows pane {pane}"),
        false => {
            format!("pane {pane} is selected, but no terminal is attached: `tmux attach` shows it")
        }
    }))
}

/// The duration of a mute.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MuteBody {
    /// A duration; `None` for a mute without end.
    #[serde(default, rename = "for")]
    period: Option<String>,
}

/// The body of an order without options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}
