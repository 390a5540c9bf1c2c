//! Questions to the journal and their answers: one function, asked in the daemon through its socket and without a
//! daemon on the journal itself, so that both give the same.

use std::collections::BTreeMap;

use actors::context;
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::decide::Case;
use checkpoint::phase::Scope;
use checkpoint::replay::{self, Replayer};
use checkpoint::rules::packs::ProjectFacts;
use checkpoint::state::SessionState;
use journal::{Agent, Envelope, Event, Journal, Outcome, Reason, SessionEntry, Stream, Timestamp, Verdict, codec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::views;

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
    Events {
        /// The first one.
        from: u64,
        /// Or: the last so many.
        last: Option<u64>,
        /// Only of this session.
        session: Option<String>,
        /// Only of this kind.
        kind: Option<String>,
        /// With payloads.
        payloads: bool,
    },
    /// Decisions in order, one a line.
    Audit(Audit),
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
    /// How much there is.
    Stats,
    /// Whether both sides of the journal agree.
    VerifyJournal,
    /// The latest phase checkpoint whose work is not over, or null.
    IncompletePhase(Scope),
}

/// Which decisions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Audit {
    /// Of this session.
    pub(crate) session: Option<String>,
    /// Of this agent.
    pub(crate) agent: Option<Agent>,
    /// With this verdict.
    pub(crate) verdict: Option<Verdict>,
    /// With this reason.
    pub(crate) reason: Option<Reason>,
    /// Not before.
    pub(crate) since: Option<Timestamp>,
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

/// Answers a question, line by line. `{"progress":[done,all]}` lines may come in between.
///
/// # Errors
///
/// As [`Error`] says.
pub(crate) fn answer(query: &Query, journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    journal.settle()?;
    match query {
        Query::Sessions => sessions(journal, emit),
        Query::SessionNames => session_names(journal, emit),
        Query::State { session, seq, time } => {
            let entry = find_session(journal, session)?;
            let state = state_at(journal, &entry, *seq, *time)?;
            send(emit, views::state(&state))
        }
        Query::Folded { session } => {
            let state = context::load(journal, &find_session(journal, session)?.stream)?;
            send(emit, serde_json::to_value(state).expect("a state is plain data"))
        }
        Query::Events { from, last, session, kind, payloads } => {
            let session = session.as_deref().map(|session| find_session(journal, session)).transpose()?;
            events(journal, *from, *last, session.as_ref(), kind.as_deref(), *payloads, emit)
        }
        Query::Audit(filter) => audit(journal, filter, emit),
        Query::Explain { seq, session } => {
            let decided = find_decision(journal, *seq, session.as_deref())?;
            send(emit, explain(journal, &decided)?)
        }
        Query::Verify { session } => verify(journal, session.as_deref(), emit),
        Query::WhatIf { session, name, text } => what_if(journal, session.as_deref(), name, text, emit),
        Query::Stats => send(emit, stats(journal)?),
        Query::VerifyJournal => {
            let verified = journal.verify(|done, all| {
                let _ = emit(json!({ "progress": [done, all] }));
            })?;
            send(emit, serde_json::to_value(verified).expect("plain data"))
        }
        Query::IncompletePhase(scope) => {
            let phase = actors::phases::latest_incomplete(journal, scope)?;
            send(emit, phase.as_ref().map_or(Value::Null, views::phase))
        }
    }
}

fn send(emit: &mut Emit<'_>, line: Value) -> Result<()> {
    if emit(line) { Ok(()) } else { Err(Error::Gone) }
}

/// Finds a session by its id, the host's id, the beginning of either, or `last`.
pub(crate) fn find_session(journal: &Journal, wanted: &str) -> Result<SessionEntry> {
    let hosts = journal.sessions().into_iter().filter(|entry| entry.stream.agent != Agent::Daemon);
    if wanted == "last" {
        let last = hosts.max_by_key(|entry| entry.last_seq);
        return last.ok_or_else(|| Error::NotFound("there are no sessions yet".into()));
    }
    let all: Vec<_> = hosts.collect();
    let names = |entry: &SessionEntry| [entry.stream.session.to_string(), entry.stream.native()];
    if let Some(exact) = all.iter().find(|entry| names(entry).iter().any(|name| name == wanted)) {
        return Ok(exact.clone());
    }
    let mut near = all.iter().filter(|entry| names(entry).iter().any(|name| name.starts_with(wanted)));
    match (near.next(), near.next()) {
        (Some(one), None) if !wanted.is_empty() => Ok(one.clone()),
        (Some(_), Some(_)) => {
            Err(Error::NotFound(format!("several sessions begin with `{wanted}`: give more of the id")))
        }
        _ => Err(Error::NotFound(format!("there is no session `{wanted}`: `checkpointd sessions` lists them"))),
    }
}

fn state_at(
    journal: &Journal,
    entry: &SessionEntry,
    seq: Option<u64>,
    time: Option<Timestamp>,
) -> Result<SessionState> {
    if seq.is_none() && time.is_none() {
        return Ok(context::load(journal, &entry.stream)?);
    }
    let mut state = SessionState::new(entry.stream.clone());
    for envelope in journal.stream(entry.stream.session, 0, usize::MAX)? {
        let within = seq.is_none_or(|seq| envelope.seq <= seq) && time.is_none_or(|time| envelope.at <= time);
        if within {
            state.apply(&envelope);
        }
    }
    Ok(state)
}

fn sessions(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    for entry in journal.sessions() {
        if entry.stream.agent != Agent::Daemon {
            let state = context::load(journal, &entry.stream)?;
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

fn events(
    journal: &Journal,
    from: u64,
    last: Option<u64>,
    session: Option<&SessionEntry>,
    kind: Option<&str>,
    payloads: bool,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let wanted = |envelope: &Envelope| {
        kind.is_none_or(|kind| envelope.event.kind() == kind)
            && session.is_none_or(|session| envelope.stream.session == session.stream.session)
    };
    let from = match last {
        Some(count) if session.is_none() && kind.is_none() => from.max((journal.last_seq() + 1).saturating_sub(count)),
        Some(count) => {
            let mut newest = std::collections::VecDeque::new();
            for envelope in journal.events_from(from) {
                let envelope = envelope?;
                if wanted(&envelope) {
                    newest.push_back(envelope.seq);
                    if newest.len() as u64 > count {
                        newest.pop_front();
                    }
                }
            }
            newest.front().copied().unwrap_or(u64::MAX)
        }
        None => from,
    };
    for envelope in journal.events_from(from.max(1)) {
        let envelope = envelope?;
        if wanted(&envelope) {
            let payload = if payloads { journal.payload(envelope.seq)? } else { None };
            let mut line = codec::to_json(&envelope, payload.as_deref());
            if !payloads && let Value::Object(line) = &mut line {
                line.shift_remove("payload");
            }
            send(emit, line)?;
        }
    }
    Ok(())
}

fn audit(journal: &Journal, filter: &Audit, emit: &mut Emit<'_>) -> Result<()> {
    let session = filter.session.as_deref().map(|session| find_session(journal, session)).transpose()?;
    let mut lines = Vec::new();
    for decided in journal.decisions_before(u64::MAX) {
        let (seq, outcome) = decided?;
        let Some(envelope) = journal.event(seq)? else { continue };
        let Event::Decided(decision) = &envelope.event else { continue };
        // Decisions come newest first; a decision is recorded after it happened, so nothing older can be wanted.
        if filter.since.is_some_and(|since| envelope.recorded_at < since) {
            break;
        }
        let wanted = session.as_ref().is_none_or(|session| envelope.stream.session == session.stream.session)
            && filter.agent.is_none_or(|agent| envelope.stream.agent == agent)
            && filter.verdict.is_none_or(|verdict| decision.verdict == verdict)
            && filter.reason.is_none_or(|reason| decision.reason == reason)
            && filter.since.is_none_or(|since| envelope.at >= since);
        if wanted {
            let obstacle = obstacle(journal, &envelope, outcome)?;
            lines.push(views::decision(&envelope, decision, outcome, obstacle.as_deref()));
        }
        if filter.limit.is_some_and(|limit| lines.len() as u64 >= limit) {
            break;
        }
    }
    lines.into_iter().rev().try_for_each(|line| send(emit, line))
}

/// How many events of a session after a decision are searched for what became of its delivery.
const DELIVERY_EVENTS_MAX: usize = 4_096;

/// Returns the word for what a checkpoint waits for, or for why it was not delivered.
fn obstacle(journal: &Journal, decided: &Envelope, outcome: Outcome) -> Result<Option<String>> {
    let mut word = None;
    if matches!(outcome, Outcome::None | Outcome::Confirmed) {
        return Ok(word);
    }
    // Whatever became of it stands soon after it.
    for envelope in journal.stream(decided.stream.session, decided.seq, DELIVERY_EVENTS_MAX)? {
        match envelope.event {
            Event::DeliveryHeld { decision, obstacle } if decision == decided.seq => word = Some(obstacle),
            Event::DeliveryEntered { decision, .. } if decision == decided.seq => word = None,
            Event::DeliveryFailed { decision, reason } | Event::DeliveryExpired { decision, reason }
                if decision == decided.seq =>
            {
                return Ok(Some(reason));
            }
            _ => {}
        }
    }
    Ok(word)
}

fn find_decision(journal: &Journal, seq: Option<u64>, session: Option<&str>) -> Result<Envelope> {
    let session = session.map(|session| find_session(journal, session)).transpose()?;
    let is_wanted = |envelope: &Envelope| match (&envelope.event, seq) {
        (Event::Decided(decision), Some(seq)) => envelope.seq == seq || decision.trigger == seq,
        (Event::Decided(_), None) => {
            session.as_ref().is_none_or(|session| session.stream.session == envelope.stream.session)
        }
        _ => false,
    };
    let before = seq.and_then(|seq| seq.checked_add(GAP_MAX)).unwrap_or(u64::MAX);
    for decided in journal.decisions_before(before) {
        if let Some(envelope) = journal.event(decided?.0)?
            && is_wanted(&envelope)
        {
            return Ok(envelope);
        }
    }
    Err(Error::NotFound(match seq {
        Some(seq) => format!("event {seq} is no decision, and no decision is about it: `checkpointd audit` lists them"),
        None => "nothing was decided yet".into(),
    }))
}

/// A decision follows its stop within so many events of all sessions.
const GAP_MAX: u64 = 100_000;

/// Returns the decision, its stop, the state before, the evidence, the exits considered, and the delivery.
fn explain(journal: &Journal, decided: &Envelope) -> Result<Value> {
    let Event::Decided(decision) = &decided.event else {
        return Err(Error::NotFound(format!("event {} is no decision", decided.seq)));
    };
    let stream = journal.stream(decided.stream.session, 0, usize::MAX)?;
    let state = replay::fold(&decided.stream, stream.iter().filter(|envelope| envelope.seq <= decision.basis));
    let evidence = stream.iter().find_map(|envelope| match &envelope.event {
        Event::EvidenceGathered { trigger, evidence } if *trigger == decision.trigger => Some((**evidence).clone()),
        _ => None,
    });
    let policy = policy_of(journal, decision.policy)?;
    let stop = state.pending.iter().find(|stop| stop.seq == decision.trigger).cloned();
    let stop = stop.or_else(|| state.restart_stop(decision.trigger));
    let found = evidence.clone().unwrap_or_default();
    let case = stop.as_ref().zip(policy.as_ref()).map(|(stop, policy)| Case {
        state: &state,
        stop,
        evidence: &found,
        policy,
        fingerprint: decision.policy,
    });
    let considered: Vec<_> = match &case {
        Some(case) if decision.reason != Reason::Overloaded => case
            .considered()
            .into_iter()
            .map(|exit| json!({ "reason": exit.reason, "taken": exit.taken, "why": exit.why }))
            .collect(),
        _ => vec![json!({ "reason": decision.reason, "taken": true, "why": "nobody waited for the answer any more" })],
    };
    let delivery: Vec<_> = stream
        .iter()
        .filter(|envelope| views::is_delivery_of(&envelope.event, decided.seq))
        .map(|envelope| codec::to_json(envelope, None))
        .map(views::without_payload)
        .collect();
    let trigger = stream.iter().find(|envelope| envelope.seq == decision.trigger);
    let trigger = trigger.map(|envelope| -> Result<Value> {
        let payload = journal.payload(envelope.seq)?;
        Ok(codec::to_json(envelope, payload.as_deref()))
    });
    let outcome = journal.outcome(decided.seq)?.unwrap_or(Outcome::None);
    Ok(json!({
        "decision": views::decision(decided, decision, outcome, obstacle(journal, decided, outcome)?.as_deref()),
        "event": trigger.transpose()?,
        "state": views::state(&state),
        "evidence": evidence,
        "rules": case.as_ref().map(|case| views::rules(&case.find())),
        "considered": considered,
        "delivery": delivery,
        "policy": policy,
        "basis": decision.basis,
        "version": decision.version,
    }))
}

fn policy_of(journal: &Journal, fingerprint: u64) -> Result<Option<Policy>> {
    for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
        if let Event::PolicyAdopted { fingerprint: known, text } = &envelope.event
            && *known == fingerprint
        {
            return Ok(Policy::from_text(text).ok());
        }
    }
    Ok(None)
}

/// Events between two signs of progress.
const PROGRESS_EVERY: u64 = 20_000;

/// Walks over history and hands every wanted decision to `judge`.
fn walk(
    journal: &Journal,
    session: Option<&str>,
    emit: &mut Emit<'_>,
    mut judge: impl FnMut(replay::Past<'_>),
) -> Result<()> {
    let events: Box<dyn Iterator<Item = journal::Result<Envelope>>> = match session {
        None => Box::new(journal.history(1)),
        Some(session) => {
            let session = find_session(journal, session)?.stream.session;
            // The daemon's own events have the policies.
            let mut own = journal.stream(Stream::daemon().session, 0, usize::MAX)?;
            own.extend(journal.stream(session, 0, usize::MAX)?);
            own.sort_by_key(|envelope| envelope.seq);
            Box::new(own.into_iter().map(Ok))
        }
    };
    let mut replayer = Replayer::default();
    let all = journal.last_seq();
    for envelope in events {
        let envelope = envelope?;
        if envelope.seq.is_multiple_of(PROGRESS_EVERY) {
            send(emit, json!({ "progress": [envelope.seq, all] }))?;
        }
        replayer.feed(envelope, &mut judge);
    }
    Ok(())
}

fn verify(journal: &Journal, session: Option<&str>, emit: &mut Emit<'_>) -> Result<()> {
    let (mut decisions, mut matched, mut mismatched) = (0u64, 0u64, Vec::new());
    walk(journal, session, emit, |past| {
        decisions += 1;
        let problem = match past.again() {
            Ok(now) if now == *past.decision => {
                matched += 1;
                return;
            }
            Ok(now) => json!({
                "seq": past.envelope.seq,
                "fields": replay::differences(past.decision, &now),
                "was": past.decision.reason,
                "now": now.reason,
            }),
            Err(why) => json!({ "seq": past.envelope.seq, "fields": [], "why": why }),
        };
        mismatched.push(problem);
    })?;
    send(emit, json!({ "decisions": decisions, "matched": matched, "mismatched": mismatched }))
}

fn what_if(journal: &Journal, session: Option<&str>, name: &str, text: &str, emit: &mut Emit<'_>) -> Result<()> {
    let config = Config::load(Some((name, text))).map_err(|error| Error::NotFound(error.to_string()))?;
    let mut policies: BTreeMap<String, Policy> = BTreeMap::new();
    let (mut decisions, mut changed) = (0u64, Vec::new());
    walk(journal, session, emit, |past| {
        decisions += 1;
        let project = past.state.project().to_owned();
        let policy = policies.entry(project).or_insert_with_key(|project| {
            let facts = ProjectFacts { path: project.clone(), files: actors::evidence::names(project.as_ref()) };
            config.policy_for(&facts, None).unwrap_or_else(|_| actors::evidence::default_policy(&config))
        });
        let now = past.under(policy, policy.to_text().0);
        if (now.verdict, now.reason, &now.message)
            != (past.decision.verdict, past.decision.reason, &past.decision.message)
        {
            let short = |decision: &journal::Decision| json!({ "verdict": decision.verdict, "reason": decision.reason, "message": decision.message });
            changed.push(json!({ "seq": past.envelope.seq, "was": short(past.decision), "now": short(&now) }));
        }
    })?;
    send(emit, json!({ "decisions": decisions, "changed": changed }))
}

fn stats(journal: &Journal) -> Result<Value> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut agents: BTreeMap<&'static str, u64> = BTreeMap::new();
    for envelope in journal.history(1) {
        let envelope = envelope?;
        *kinds.entry(envelope.event.kind()).or_default() += 1;
        *agents.entry(envelope.stream.agent.word()).or_default() += 1;
    }
    let (store, intake) = journal.disk_bytes();
    let sessions = journal.sessions().iter().filter(|entry| entry.stream.agent != Agent::Daemon).count();
    Ok(json!({
        "events": journal.last_seq(),
        "sessions": sessions,
        "store_bytes": store,
        "intake_bytes": intake,
        "kinds": kinds,
        "agents": agents,
    }))
}
