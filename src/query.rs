//! Questions to the journal and their answers: one function, asked in the daemon through its socket and without a
//! daemon on the journal itself, so that both give the same.

use std::collections::BTreeMap;

use actors::session_state;
use checkpoint::phase::Scope;
use checkpoint::replay::{self, Past};
use checkpoint::state::SessionState;
use journal::{
    Agent, Envelope, Event, Journal, Payload, Reason, SessionEntry, Timestamp, Verdict, codec,
};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::views;

mod again;
mod audit;
mod explain;
mod overview;
mod story;
mod trends;
mod walk;
mod whatif;
mod whose;

use again::judge_all;
pub(crate) use overview::{HookTime, hook_time};
pub(crate) use story::step;
use walk::Walks;
use whose::Whose;

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "query", rename_all = "snake_case")]
pub(crate) enum Query {
    /// All sessions, one a line.
    Sessions,
    /// The names of all sessions, the newest first, one a line.
    SessionNames,
    /// What is known of a session.
    State {
        /// Id, beginning of one, or `last`.
        session: String,
        /// Up to this event.
        seq: Option<u64>,
        /// Up to this time.
        time: Option<Timestamp>,
    },
    /// What is known of a session, in the form that `preview` decides by; for this program's own use.
    Folded {
        /// Id, beginning of one, or `last`.
        session: String,
    },
    /// Events in order, one a line.
    Events(Events),
    /// A session's events with their places in its turns, one a line.
    Timeline {
        /// Id, beginning of one, or `last`.
        session: String,
        /// Only of this turn.
        turn: Option<u64>,
        /// The first one.
        from: u64,
    },
    /// The same with no more than the page's lanes show of each event.
    Lanes {
        /// Id, beginning of one, or `last`.
        session: String,
        /// The first one.
        from: u64,
    },
    /// A session's events with what each changed of its state, one a line.
    Steps {
        /// Id, beginning of one, or `last`.
        session: String,
    },
    /// Decisions in order, one a line.
    Audit(Audit),
    /// What decisions come to, in all and for each agent in each project.
    AuditSummary(Audit),
    /// One decision with all that it was based on.
    Explain {
        /// Its number, its stop's, or none for the last.
        seq: Option<u64>,
        /// The last of this session.
        session: Option<String>,
    },
    /// Decide again all that was decided.
    Verify {
        /// Only of this session.
        session: Option<String>,
    },
    /// Decide again all that was decided, under other settings.
    WhatIf {
        /// Only of this session.
        session: Option<String>,
        /// Name of the file.
        name: String,
        /// Its text.
        text: String,
    },
    /// One event with its payload.
    Event {
        /// Its number.
        seq: u64,
    },
    /// What the last days come to, for plots.
    Trends {
        /// So many days, the last of them today.
        days: u32,
    },
    /// What there is, without a walk over all of it.
    Overview,
    /// How much there is.
    Stats,
    /// Whether both sides of the journal agree.
    VerifyJournal,
    /// The latest phase checkpoint whose work is not over, or null.
    IncompletePhase(Scope),
}

/// Which events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Events {
    /// The first one.
    pub(crate) from: u64,
    /// Or: the last so many.
    pub(crate) last: Option<u64>,
    /// Only of this session.
    pub(crate) session: Option<String>,
    /// Only of this agent.
    pub(crate) agent: Option<Agent>,
    /// Only of sessions in this folder or below it.
    pub(crate) project: Option<String>,
    /// Only of this kind.
    #[serde(deserialize_with = "known_kind")]
    pub(crate) kind: Option<String>,
    /// With payloads.
    pub(crate) payloads: bool,
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
    /// Tells whether no event is left out for what it is.
    const fn takes_all(&self) -> bool {
        self.session.is_none()
            && self.agent.is_none()
            && self.project.is_none()
            && self.kind.is_none()
    }
}

/// Which decisions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Audit {
    /// Of this session.
    pub(crate) session: Option<String>,
    /// Of this agent.
    pub(crate) agent: Option<Agent>,
    /// Of sessions in this folder or below it.
    pub(crate) project: Option<String>,
    /// With this verdict.
    pub(crate) verdict: Option<Verdict>,
    /// With this reason.
    pub(crate) reason: Option<Reason>,
    /// Not before.
    pub(crate) since: Option<Timestamp>,
    /// Not after.
    pub(crate) until: Option<Timestamp>,
    /// With this in message, actions or observations, in capital letters or small ones.
    pub(crate) text: Option<String>,
    /// Only those before this one.
    pub(crate) before: Option<u64>,
    /// The newest so many.
    pub(crate) limit: Option<u64>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// What was asked about is not there: a sentence.
    #[error("{0}")]
    NotFound(String),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// Whoever asked has gone.
    #[error("nobody listens")]
    Gone,
}

/// A result whose error is an [`Error`].
pub(crate) type Result<T> = std::result::Result<T, Error>;
/// Takes an answer's lines; false when nobody listens any more.
pub(crate) type Emit<'a> = dyn FnMut(Value) -> bool + 'a;

/// Answers questions to a journal, and remembers where those who follow a session left off.
pub(crate) struct Reader {
    journal: Journal,
    walks: Walks,
}

impl Reader {
    /// Makes one that remembers nothing yet.
    pub(crate) fn new(journal: Journal) -> Self {
        Self {
            journal,
            walks: Walks::default(),
        }
    }

    /// Answers a question, line by line. `{"progress":[done,all]}` lines may come in between.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub(crate) fn answer(&self, query: &Query, emit: &mut Emit<'_>) -> Result<()> {
        self.journal.settle()?;
        answer(query, &self.journal, &self.walks, emit)
    }
}

fn answer(query: &Query, journal: &Journal, walks: &Walks, emit: &mut Emit<'_>) -> Result<()> {
    match query {
        Query::Sessions => sessions(journal, emit),
        Query::SessionNames => session_names(journal, emit),
        Query::State { session, seq, time } => {
            let entry = find_session(journal, session)?;
            let state = state_at(journal, &entry, *seq, *time)?;
            send(emit, views::state(&state))
        }
        Query::Folded { session } => {
            let state = session_state::load(journal, &find_session(journal, session)?.stream)?;
            send(
                emit,
                serde_json::to_value(state).expect("a state is plain data"),
            )
        }
        Query::Events(wanted) => events(journal, wanted, emit),
        Query::Timeline {
            session,
            turn,
            from,
        } => story::timeline(
            journal,
            walks,
            &find_session(journal, session)?,
            *turn,
            *from,
            emit,
        ),
        Query::Lanes { session, from } => story::lanes(
            journal,
            walks,
            &find_session(journal, session)?,
            *from,
            emit,
        ),
        Query::Steps { session } => story::steps(journal, &find_session(journal, session)?, emit),
        Query::Audit(filter) => audit::list(journal, filter, emit),
        Query::AuditSummary(filter) => send(emit, audit::summary(journal, filter)?),
        Query::Explain { seq, session } => {
            send(emit, explain::explain(journal, *seq, session.as_deref())?)
        }
        Query::Verify { session } => verify(journal, session.as_deref(), emit),
        Query::WhatIf {
            session,
            name,
            text,
        } => whatif::what_if(journal, session.as_deref(), name, text, emit),
        Query::Event { seq } => send(emit, event(journal, *seq)?),
        Query::Trends { days } => send(emit, trends::trends(journal, *days, Timestamp::now())?),
        Query::Stats => send(emit, stats(journal)?),
        Query::Overview => send(emit, overview::overview(journal)?),
        Query::VerifyJournal => {
            let verified = journal.verify(|done, all| {
                let _ = emit(json!({ "progress": [done, all] }));
            })?;
            send(emit, serde_json::to_value(verified).expect("plain data"))
        }
        Query::IncompletePhase(scope) => {
            let phase = actors::phase::latest_incomplete(journal, scope)?;
            send(emit, phase.as_ref().map_or(Value::Null, views::phase))
        }
    }
}

fn send(emit: &mut Emit<'_>, line: Value) -> Result<()> {
    if emit(line) { Ok(()) } else { Err(Error::Gone) }
}

/// Finds a session by its id, the host's id, the beginning of either, or `last`.
pub(crate) fn find_session(journal: &Journal, wanted: &str) -> Result<SessionEntry> {
    let hosts = journal
        .sessions()
        .into_iter()
        .filter(|entry| entry.stream.agent != Agent::Daemon);
    if wanted == "last" {
        let last = hosts.max_by_key(|entry| entry.last_seq);
        return last.ok_or_else(|| Error::NotFound("there are no sessions yet".into()));
    }
    let all: Vec<_> = hosts.collect();
    let names = |entry: &SessionEntry| [entry.stream.session.to_string(), entry.stream.native()];
    if let Some(exact) = all
        .iter()
        .find(|entry| names(entry).iter().any(|name| name == wanted))
    {
        return Ok(exact.clone());
    }
    let mut near = all
        .iter()
        .filter(|entry| names(entry).iter().any(|name| name.starts_with(wanted)));
    match (near.next(), near.next()) {
        (Some(one), None) if !wanted.is_empty() => Ok(one.clone()),
        (Some(_), Some(_)) => Err(Error::NotFound(format!(
            "several sessions begin with `{wanted}`: give more of the id"
        ))),
        _ => Err(Error::NotFound(format!(
            "there is no session `{wanted}`: `checkpointd sessions` lists them"
        ))),
    }
}

fn state_at(
    journal: &Journal,
    entry: &SessionEntry,
    seq: Option<u64>,
    time: Option<Timestamp>,
) -> Result<SessionState> {
    if seq.is_none() && time.is_none() {
        return Ok(session_state::load(journal, &entry.stream)?);
    }
    let mut state = SessionState::new(entry.stream.clone());
    for envelope in journal.stream(entry.stream.session, 0, usize::MAX)? {
        let within = seq.is_none_or(|seq| envelope.seq <= seq)
            && time.is_none_or(|time| envelope.at <= time);
        if within {
            state.apply(&envelope);
        }
    }
    Ok(state)
}

fn sessions(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    for entry in journal.sessions() {
        if entry.stream.agent != Agent::Daemon {
            let state = session_state::load(journal, &entry.stream)?;
            send(emit, views::session(&entry, &state))?;
        }
    }
    Ok(())
}

fn session_names(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    let mut entries = journal.sessions();
    entries.retain(|entry| entry.stream.agent != Agent::Daemon);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seq));
    entries.iter().try_for_each(|entry| {
        let stream = &entry.stream;
        send(emit, json!({ "session": stream.session, "native_session": stream.native(), "agent": stream.agent, "last_at": entry.last_at }))
    })
}

fn events(journal: &Journal, wanted: &Events, emit: &mut Emit<'_>) -> Result<()> {
    let mut whose = Whose::new(
        journal,
        wanted.session.as_deref(),
        wanted.agent,
        wanted.project.as_deref(),
    )?;
    let mut fits =
        |envelope: &Envelope| -> Result<bool> {
            let kind = wanted.kind.as_deref();
            Ok(kind.is_none_or(|kind| envelope.event.kind() == kind)
                && whose.fits(&envelope.stream)?)
        };
    let from = match wanted.last {
        Some(count) if wanted.takes_all() => wanted
            .from
            .max((journal.last_seq() + 1).saturating_sub(count)),
        Some(count) => {
            let mut newest = std::collections::VecDeque::new();
            for envelope in journal.events_from(wanted.from) {
                let envelope = envelope?;
                if fits(&envelope)? {
                    newest.push_back(envelope.seq);
                    if newest.len() as u64 > count {
                        newest.pop_front();
                    }
                }
            }
            newest.front().copied().unwrap_or(u64::MAX)
        }
        None => wanted.from,
    };
    for envelope in journal.events_from(from.max(1)) {
        let envelope = envelope?;
        if fits(&envelope)? {
            let payload = if wanted.payloads {
                journal.kept_payload(envelope.seq)?
            } else {
                Payload::None
            };
            let line = codec::to_export(&envelope, &payload);
            send(
                emit,
                if wanted.payloads {
                    line
                } else {
                    views::without_payload(line)
                },
            )?;
        }
    }
    Ok(())
}

fn event(journal: &Journal, seq: u64) -> Result<Value> {
    let envelope = journal
        .event(seq)?
        .ok_or_else(|| Error::NotFound(format!("there is no event {seq}")))?;
    Ok(codec::to_export(&envelope, &journal.kept_payload(seq)?))
}

fn verify(journal: &Journal, session: Option<&str>, emit: &mut Emit<'_>) -> Result<()> {
    let judge = |past: Past<'_>| match past.again() {
        Ok(now) if now == *past.decision => None,
        Ok(now) => Some(json!({
            "seq": past.envelope.seq,
            "fields": replay::differences(past.decision, &now),
            "was": past.decision.reason,
            "now": now.reason,
        })),
        Err(why) => Some(json!({ "seq": past.envelope.seq, "fields": [], "why": why })),
    };
    let judged = judge_all(journal, session, emit, || judge)?;
    let decisions = judged.len();
    let mismatched: Vec<_> = judged.into_iter().flatten().collect();
    let matched = decisions - mismatched.len();
    send(
        emit,
        json!({ "decisions": decisions, "matched": matched, "mismatched": mismatched }),
    )
}

fn stats(journal: &Journal) -> Result<Value> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut agents: BTreeMap<&'static str, u64> = BTreeMap::new();
    for envelope in journal.history(1..=u64::MAX, |_| true)? {
        let envelope = envelope?;
        *kinds.entry(envelope.event.kind()).or_default() += 1;
        *agents.entry(envelope.stream.agent.word()).or_default() += 1;
    }
    let (store, intake) = journal.disk_bytes();
    let sessions = journal
        .sessions()
        .iter()
        .filter(|entry| entry.stream.agent != Agent::Daemon)
        .count();
    Ok(json!({
        "events": journal.last_seq(),
        "sessions": sessions,
        "store_bytes": store,
        "intake_bytes": intake,
        "kinds": kinds,
        "agents": agents,
    }))
}
