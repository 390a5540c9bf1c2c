//! How much the journal holds: what `status` shows needs no walk over the whole of it, `journal stats` does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use journal::{Agent, Envelope, Event, Journal, Stream};

use super::question::Result;
use super::sessions::{is_fired, of_agents};
use crate::ops::views::{AgentLine, HookFigures, JournalLine, Overview, Stats};

/// The newest events that hook times are taken from.
const NEWEST: u64 = 2_000;
/// A call that took longer came by the spool: a client waits no longer for a plain event.
const ANSWERED_WITHIN: Duration = Duration::from_millis(250);

/// Returns events, sessions of each agent, sizes, rejected payloads and the hooks' times.
pub(super) fn overview(journal: &Journal) -> Result<Overview> {
    let rejected = journal.stream(Stream::daemon().session, 0, usize::MAX)?;
    let rejected = rejected
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::PayloadRejected { .. }))
        .count();
    let mut sessions = journal.sessions();
    sessions.retain(|entry| !is_fired(entry));
    let others = sessions.iter().map(|entry| entry.stream.agent);
    let others: BTreeSet<Agent> = others
        .filter(|agent| matches!(agent, Agent::Configured(_)) && agent.is_agent())
        .collect();
    let agents = Agent::HOSTS.into_iter().chain(others).filter_map(|agent| {
        let own = sessions.iter().filter(|entry| entry.stream.agent == agent);
        Some(AgentLine {
            agent,
            sessions: own.clone().count(),
            last_at: own.map(|entry| entry.last_at).max()?,
        })
    });
    let (store_bytes, intake_bytes) = journal.disk_bytes();
    let hooks = hook_times(journal, NEWEST, None)?;
    let identity = journal.identity().ok();
    Ok(Overview {
        journal: identity.map(|identity| JournalLine {
            id: identity.journal,
            since: identity.since,
            because: identity.because,
            collector: journal.is_collector(),
        }),
        events: journal.last_seq(),
        rejected,
        agents: agents.collect(),
        store_bytes,
        intake_bytes,
        hooks: HookFigures {
            calls: hooks.times.len(),
            p50_us: hooks.quantile_us(50),
            p99_us: hooks.quantile_us(99),
            later: hooks.later,
        },
    })
}

/// Counts the events of each kind and of each agent, by a walk over all of them.
pub(super) fn stats(journal: &Journal) -> Result<Stats> {
    let mut kinds = BTreeMap::new();
    let mut agents: BTreeMap<Agent, u64> = BTreeMap::new();
    for envelope in journal.history(1..=u64::MAX, |_| true)? {
        let envelope = envelope?;
        *kinds.entry(envelope.event.kind()).or_default() += 1;
        *agents.entry(envelope.stream.agent).or_default() += 1;
    }
    let named = |counts: BTreeMap<&str, u64>| {
        let named = counts.into_iter();
        named
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    };
    let words = agents.iter();
    let agents = words.map(|(agent, count)| (agent.word(), *count)).collect();
    let (store_bytes, intake_bytes) = journal.disk_bytes();
    Ok(Stats {
        events: journal.last_seq(),
        sessions: of_agents(journal).len(),
        store_bytes,
        intake_bytes,
        kinds: named(kinds),
        agents: named(agents),
    })
}

/// How long hook calls took from the client's start until they were journaled.
pub(super) struct HookTimes {
    /// Of calls that were answered, the shortest first.
    pub(super) times: Vec<Duration>,
    /// Calls that came by the spool.
    pub(super) later: u64,
}

impl HookTimes {
    /// Returns a percentile of the times, in microseconds.
    pub(super) fn quantile_us(&self, of_hundred: usize) -> Option<u64> {
        self.times
            .get(self.times.len() * of_hundred / 100)
            .map(|time| time.as_micros() as u64)
    }
}

/// How long a hook call took from the client's start until it was journaled.
pub(crate) enum HookTime {
    Answered(Duration),
    /// It came by the spool.
    Later,
}

/// Returns the time of the hook call that an event came by, if it came by one.
pub(crate) fn hook_time(envelope: &Envelope) -> Option<HookTime> {
    envelope.event.host()?;
    let time = envelope.recorded_at.since(envelope.at);
    Some(if time <= ANSWERED_WITHIN {
        HookTime::Answered(time)
    } else {
        HookTime::Later
    })
}

/// Returns how long the hook calls among the newest events took, at a collector those of a machine if one is wanted.
pub(super) fn hook_times(
    journal: &Journal,
    newest: u64,
    machine: Option<&str>,
) -> Result<HookTimes> {
    let from = (journal.last_seq() + 1).saturating_sub(newest).max(1);
    let (mut times, mut later) = (Vec::new(), 0);
    for envelope in journal.events_from(from) {
        let envelope = envelope?;
        let own = envelope.origin.as_deref();
        if machine.is_some_and(|wanted| own.is_none_or(|own| own.machine != wanted)) {
            continue;
        }
        match hook_time(&envelope) {
            Some(HookTime::Answered(time)) => times.push(time),
            Some(HookTime::Later) => later += 1,
            None => {}
        }
    }
    times.sort_unstable();
    Ok(HookTimes { times, later })
}
