//! The answers for the contents of a range of commits, from all sessions of its repository (spec EVID-18).

use actors::session_state;
use checkpoint::record::{Found, Head, Table};
use journal::chain::Chain;
use journal::{Envelope, Event, Journal, Stream};

use super::own_runs::{OwnRuns, folder};
use super::policies::policies;
use super::question::{Range, Result};
use super::sessions::of_agents;

/// Returns what the journal says about contents.
pub(super) fn range(journal: &Journal, wanted: &Range) -> Result<Found> {
    let last = journal.last_seq();
    let until = wanted.until.unwrap_or(last);
    let policies = policies(journal)?;
    let own = OwnRuns::read(journal, until)?;
    let mut table = Table::new(&wanted.contents);
    for entry in of_agents(journal) {
        let state = session_state::load(journal, &entry.stream)?;
        let folder = folder(state.project());
        let is_inside = wanted.tops.iter().any(|top| folder.starts_with(top));
        if !is_inside && wanted.remote.is_none() {
            continue;
        }
        let mut events = journal.stream(entry.stream.session, 0, usize::MAX)?;
        events.retain(|envelope| envelope.seq <= until);
        if is_inside || is_of(&events, wanted.remote.as_deref()) {
            table.take(&events, &policies, &own.of(&folder));
        }
    }
    Ok(table.finish(head(journal, until.min(last))?))
}

/// Returns whether a session worked in a clone of a repository.
fn is_of(events: &[Envelope], remote: Option<&str>) -> bool {
    events.iter().any(|envelope| match &envelope.event {
        Event::FactsGathered { facts, .. } => {
            facts.remote.is_some() && facts.remote.as_deref() == remote
        }
        _ => false,
    })
}

/// Returns the journal up to an event. What it says of itself, its starts and stops, is left out at the end, so that
/// a question alone does not change the answer.
fn head(journal: &Journal, until: u64) -> Result<Head> {
    let identity = journal.identity()?;
    let mut chain = Chain::new(identity.journal);
    let mut last = until;
    let daemon = Stream::daemon();
    while let Some(envelope) = journal.event(last)?.filter(|one| one.stream == daemon) {
        last = envelope.seq - 1;
    }
    journal.extend(&mut chain, last)?;
    let at = journal.event(last)?.map(|envelope| envelope.recorded_at);
    Ok(Head {
        id: identity.journal.to_string(),
        seq: last,
        at: at.unwrap_or_default(),
        chain: chain.text(),
    })
}
