//! Sessions by name, and their states.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use actors::session_state;
use checkpoint::state::SessionState;
use journal::{Journal, SessionEntry, Timestamp};
use uuid::Uuid;

use super::open::Finder;
use super::question::{Emit, Error, Result, Sessions, send};
use crate::ops::branches::branches;
use crate::ops::views::{SessionRow, SessionSource};

/// The beginning of the agents' ids of the sessions that `doctor --fire` makes. No agent worked in them.
pub(crate) const FIRED_PREFIX: &str = "checkpointd-doctor-";

pub(super) fn is_fired(entry: &SessionEntry) -> bool {
    entry.stream.native().starts_with(FIRED_PREFIX)
}

/// Returns the sessions of agents: all but the daemon's own.
pub(crate) fn of_agents(journal: &Journal) -> Vec<SessionEntry> {
    let mut entries = journal.sessions();
    entries.retain(|entry| entry.stream.agent.is_agent());
    entries
}

/// Returns where a session came from; `None` in the journal of its own machine.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn source(journal: &Journal, entry: &SessionEntry) -> Result<Option<SessionSource>> {
    if !journal.is_collector() {
        return Ok(None);
    }
    let origin = journal
        .event(entry.first_seq)?
        .and_then(|first| first.origin);
    Ok(origin.map(|origin| SessionSource {
        machine: origin.machine,
        journal: origin.journal,
    }))
}

/// Returns whether a session came from a machine; from any, if none is wanted.
///
/// # Errors
///
/// When the journal cannot be read.
fn is_of(journal: &Journal, entry: &SessionEntry, wanted: Option<&str>) -> Result<bool> {
    let Some(wanted) = wanted else {
        return Ok(true);
    };
    let source = source(journal, entry)?;
    Ok(source.is_some_and(|source| source.machine == wanted))
}

/// The most sessions that are named where several could be meant.
const IDS_MAX: usize = 5;

/// Finds a session by its id, the host's id, the beginning of either, or `last`.
pub(crate) fn find_session(journal: &Journal, wanted: &str) -> Result<SessionEntry> {
    find_session_on(journal, wanted, None)
}

/// Like [`find_session`], among the sessions of one machine.
pub(super) fn find_session_on(
    journal: &Journal,
    wanted: &str,
    machine: Option<&str>,
) -> Result<SessionEntry> {
    let mut all = Vec::new();
    for entry in of_agents(journal) {
        if is_of(journal, &entry, machine)? {
            all.push(entry);
        }
    }
    if wanted == "last" {
        return last(journal, all);
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
        (Some(one), Some(other)) => {
            let ids = [one, other].into_iter().chain(near);
            let ids = ids
                .take(IDS_MAX)
                .filter_map(|entry| {
                    names(entry)
                        .into_iter()
                        .find(|name| name.starts_with(wanted))
                })
                .map(|name| format!("`{name}`"));
            Err(Error::NotFound(format!(
                "several sessions begin with `{wanted}`: {}",
                ids.collect::<Vec<_>>().join(", ")
            )))
        }
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

/// Returns the session with the newest event, leaving out those in which no agent worked unless there are no others.
fn last(journal: &Journal, mut all: Vec<SessionEntry>) -> Result<SessionEntry> {
    all.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.last_seq));
    for entry in &all {
        if !session_state::load(journal, &entry.stream)?.is_empty() {
            return Ok(entry.clone());
        }
    }
    let newest = all.into_iter().find(|entry| !is_fired(entry));
    newest.ok_or_else(|| Error::NotFound("there are no sessions yet".into()))
}

/// Returns the wanted sessions, what waits for a person first.
fn rows(journal: &Journal, wanted: &Sessions) -> Result<Vec<SessionRow>> {
    let now = Timestamp::now();
    let mut loaded = Vec::new();
    for entry in of_agents(journal) {
        if !is_of(journal, &entry, wanted.machine.as_deref())? {
            continue;
        }
        let state = session_state::load(journal, &entry.stream)?;
        if (wanted.all || !state.is_empty()) && wanted.fits(&entry, &state, now) {
            loaded.push((entry, state));
        }
    }
    let branches = branches(journal, loaded.iter().map(|(_, state)| state.project()));
    let mut rows = Vec::new();
    let mut finder = Finder::new(journal);
    for (entry, state) in &loaded {
        let branch = branches.get(state.project()).cloned();
        let mut row = SessionRow::new(entry, state, branch, now);
        row.source = source(journal, entry)?;
        if !wanted.has_text(&row) {
            continue;
        }
        row.open = finder
            .find(entry, state)?
            .map(|found| found.items)
            .unwrap_or_default();
        if !wanted.open || !row.open.is_empty() {
            rows.push(row);
        }
    }
    rows.sort_by_key(SessionRow::key);
    if let Some(limit) = wanted.limit {
        let urgent = rows.iter().filter(|row| row.status.is_urgent()).count();
        rows.truncate(urgent.saturating_add(limit));
    }
    Ok(rows)
}

impl Sessions {
    fn fits(&self, entry: &SessionEntry, state: &SessionState, now: Timestamp) -> bool {
        self.agent.is_none_or(|agent| agent == entry.stream.agent)
            && (self.status.is_empty() || self.status.contains(&state.status(now)))
            && self.project.as_ref().is_none_or(|project| {
                Path::new(state.project()).starts_with(project)
                    || state.remote.as_ref() == Some(project)
            })
            && self.since.is_none_or(|since| entry.last_at >= since)
    }

    fn has_text(&self, row: &SessionRow) -> bool {
        let Some(wanted) = self.text.as_deref().map(str::to_lowercase) else {
            return true;
        };
        let id = row.session.to_string();
        let title = &row.title;
        let machine = row.source.as_ref().map(|source| &source.machine);
        let parts = [&title.title, &title.branch, &title.pane, &row.remote];
        let parts = parts
            .into_iter()
            .flatten()
            .chain(machine)
            .map(String::as_str);
        let own = [row.agent.word(), &row.project, &row.native_session, &id];
        let mut words = parts.chain(own).map(str::to_lowercase);
        words.any(|word| word.contains(&wanted))
    }
}

pub(super) fn list(journal: &Journal, wanted: &Sessions, emit: &mut Emit<'_>) -> Result<()> {
    rows(journal, wanted)?
        .iter()
        .try_for_each(|row| send(emit, row))
}

/// Returns the names of all machines that sessions came from, in order.
///
/// # Errors
///
/// When the journal cannot be read.
pub(super) fn machines(journal: &Journal) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    if journal.is_collector() {
        for entry in of_agents(journal) {
            names.extend(source(journal, &entry)?.map(|source| source.machine));
        }
    }
    Ok(names.into_iter().collect())
}

/// Returns the sessions of a machine.
///
/// # Errors
///
/// When the journal cannot be read.
pub(super) fn of_machine(journal: &Journal, machine: &str) -> Result<HashSet<Uuid>> {
    let mut sessions = HashSet::new();
    for entry in of_agents(journal) {
        if is_of(journal, &entry, Some(machine))? {
            sessions.insert(entry.stream.session);
        }
    }
    Ok(sessions)
}
