//! Sessions by name, and their states.

use actors::session_state;
use checkpoint::state::SessionState;
use journal::{Agent, Journal, SessionEntry, Timestamp};

use super::question::{Emit, Error, Result, send};
use crate::ops::views::{SessionName, SessionRow};

/// Returns the sessions of agents: all but the daemon's own.
pub(crate) fn of_agents(journal: &Journal) -> Vec<SessionEntry> {
    let mut entries = journal.sessions();
    entries.retain(|entry| entry.stream.agent != Agent::Daemon);
    entries
}

/// Finds a session by its id, the host's id, the beginning of either, or `last`.
pub(crate) fn find_session(journal: &Journal, wanted: &str) -> Result<SessionEntry> {
    let all = of_agents(journal);
    if wanted == "last" {
        let last = all.into_iter().max_by_key(|entry| entry.last_seq);
        return last.ok_or_else(|| Error::NotFound("there are no sessions yet".into()));
    }
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

pub(super) fn state_at(
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

pub(super) fn list(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    of_agents(journal).iter().try_for_each(|entry| {
        let state = session_state::load(journal, &entry.stream)?;
        send(emit, &SessionRow::new(entry, &state, Timestamp::now()))
    })
}

pub(super) fn names(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    let mut entries = of_agents(journal);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seq));
    entries
        .iter()
        .try_for_each(|entry| send(emit, &SessionName::new(entry)))
}
