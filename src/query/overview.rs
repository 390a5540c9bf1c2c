//! What `status` shows of the journal: counts that need no walk over the whole of it.

use std::time::Duration;

use journal::{Agent, Envelope, Event, Journal, Stream, Timestamp};
use serde_json::{Value, json};

use super::Result;

/// The newest events that hook times are taken from.
const NEWEST: u64 = 2_000;
/// A call that took longer came by the spool: a client waits no longer for a plain event.
const ANSWERED_WITHIN: Duration = Duration::from_millis(250);

/// Returns events, sessions of each agent, sizes, rejected payloads and the hooks' times.
pub(super) fn overview(journal: &Journal) -> Result<Value> {
    let rejected = journal.stream(Stream::daemon().session, 0, usize::MAX)?;
    let rejected = rejected.iter().filter(|envelope| matches!(envelope.event, Event::PayloadRejected { .. })).count();
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

/// Returns how long hook calls took from the client's start until they were journaled, in microseconds.
fn hooks(journal: &Journal) -> Result<Value> {
    let from = (journal.last_seq() + 1).saturating_sub(NEWEST).max(1);
    let took = |envelope: &Envelope| envelope.event.host().map(|_| envelope.recorded_at.since(envelope.at));
    let mut times = Vec::new();
    let mut spooled = 0u64;
    for envelope in journal.events_from(from) {
        match took(&envelope?) {
            Some(time) if time <= ANSWERED_WITHIN => times.push(time),
            Some(_) => spooled += 1,
            None => {}
        }
    }
    times.sort_unstable();
    let quantile = |of_hundred: usize| times.get(times.len() * of_hundred / 100).map(Duration::as_micros);
    Ok(json!({
        "calls": times.len(),
        "p50_us": quantile(50).map(|micros| micros as u64),
        "p99_us": quantile(99).map(|micros| micros as u64),
        "later": spooled,
    }))
}
