//! What `status` shows of the journal: counts that need no walk over the whole of it.

use std::time::Duration;

use journal::{Agent, Envelope, Event, Journal, Stream, Timestamp};
use serde_json::{Value, json};

use super::question::Result;

/// The newest events that hook times are taken from.
const NEWEST: u64 = 2_000;
/// A call that took longer came by the spool: a client waits no longer for a plain event.
const ANSWERED_WITHIN: Duration = Duration::from_millis(250);

/// Returns events, sessions of each agent, sizes, rejected payloads and the hooks' times.
pub(super) fn overview(journal: &Journal) -> Result<Value> {
    let rejected = journal.stream(Stream::daemon().session, 0, usize::MAX)?;
    let rejected = rejected
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::PayloadRejected { .. }))
        .count();
    let sessions = journal.sessions();
    let agents: Vec<_> = Agent::HOSTS
        .into_iter()
        .filter_map(|agent| {
            let of_agent = sessions.iter().filter(|entry| entry.stream.agent == agent);
            let last_at: Option<Timestamp> = of_agent.clone().map(|entry| entry.last_at).max();
            last_at.map(|last_at| json!({ "agent": agent, "sessions": of_agent.count(), "last_at": last_at }))
        })
        .collect();
    let (store, intake) = journal.disk_bytes();
    Ok(json!({
        "events": journal.last_seq(),
        "rejected": rejected,
        "agents": agents,
        "store_bytes": store,
        "intake_bytes": intake,
        "hooks": hooks(journal)?,
    }))
}

/// How long hook calls took from the client's start until they were journaled.
pub(super) struct HookTimes {
    /// Of calls that were answered, the shortest first.
    pub(super) times: Vec<Duration>,
    /// Calls that came by the spool.
    pub(super) later: u64,
}

impl HookTimes {
    /// Returns the time within which so many of a hundred calls were journaled, in microseconds.
    pub(super) fn quantile_us(&self, of_hundred: usize) -> Option<u64> {
        self.times
            .get(self.times.len() * of_hundred / 100)
            .map(|time| time.as_micros() as u64)
    }
}

/// How long a hook call took from the client's start until it was journaled.
pub(crate) enum HookTime {
    /// So long, and it was answered.
    Answered(Duration),
    /// It came by the spool.
    Later,
}

/// Returns the time of the hook call that an event is of; none where it is of no hook call.
pub(crate) fn hook_time(envelope: &Envelope) -> Option<HookTime> {
    envelope.event.host()?;
    let time = envelope.recorded_at.since(envelope.at);
    Some(if time <= ANSWERED_WITHIN {
        HookTime::Answered(time)
    } else {
        HookTime::Later
    })
}

/// Returns how long the hook calls among so many newest events took.
pub(super) fn hook_times(journal: &Journal, newest: u64) -> Result<HookTimes> {
    let from = (journal.last_seq() + 1).saturating_sub(newest).max(1);
    let (mut times, mut later) = (Vec::new(), 0);
    for envelope in journal.events_from(from) {
        match hook_time(&envelope?) {
            Some(HookTime::Answered(time)) => times.push(time),
            Some(HookTime::Later) => later += 1,
            None => {}
        }
    }
    times.sort_unstable();
    Ok(HookTimes { times, later })
}

fn hooks(journal: &Journal) -> Result<Value> {
    let hooks = hook_times(journal, NEWEST)?;
    Ok(json!({
        "calls": hooks.times.len(),
        "p50_us": hooks.quantile_us(50),
        "p99_us": hooks.quantile_us(99),
        "later": hooks.later,
    }))
}
