//! The answers for the contents of a range of commits, from all sessions of its repository (spec EVID-18).

use actors::session_state;
use checkpoint::record::{Found, Head, Table};
use journal::chain::Chain;
use journal::{Envelope, Event, Journal, Stream};

use super::guard::Daemons;
use super::open::policies;
use super::own_runs::{OwnRuns, folder};
use super::question::{Again, Range, Remade, Result};
use super::sessions::of_agents;

/// Returns what the journal says about contents.
pub(super) fn range(journal: &Journal, wanted: &Range) -> Result<Found> {
    let last = journal.last_seq();
    let (table, _) = table(journal, wanted, last)?;
    Ok(table.finish(head(journal, last)?))
}

/// Returns what the journal of a record says about its contents. History is only read once, unless one of the sessions
/// went on.
pub(super) fn again(journal: &Journal, wanted: &Again) -> Result<Remade> {
    let last = journal.last_seq();
    if journal.identity()?.journal.to_string() != wanted.journal {
        return Ok(Remade::Elsewhere);
    }
    if last < wanted.seq {
        return Ok(Remade::Shorter);
    }
    let (then, goes_on) = table(journal, &wanted.range, wanted.seq)?;
    let found = then.finish(head(journal, wanted.seq)?);
    let is_older = goes_on && {
        let (now, _) = table(journal, &wanted.range, last)?;
        now.finish(Head::default()).answers() != found.answers()
    };
    Ok(Remade::Here {
        found: Box::new(found),
        is_older,
    })
}

/// Returns the answers by the events up to one, and whether one of the sessions went on after it.
fn table<'a>(journal: &Journal, wanted: &'a Range, until: u64) -> Result<(Table<'a>, bool)> {
    let policies = policies(journal)?;
    let own = OwnRuns::read(journal, until)?;
    let mut goes_on = own.go_on;
    let daemons = Daemons::read(journal, until)?;
    let mut table = Table::new(&wanted.files);
    for entry in of_agents(journal) {
        let mut events = journal.stream(entry.stream.session, 0, usize::MAX)?;
        events.retain(|envelope| envelope.seq <= until);
        if is_of(&events, wanted) {
            let state = session_state::load(journal, &entry.stream)?;
            let folder = folder(state.project());
            goes_on |= entry.last_seq > until;
            table.take(&events, &policies, &own.of(&folder), daemons.of(&events));
        }
    }
    Ok((table, goes_on))
}

/// Returns whether a session worked in a repository, or in a clone of the same one.
fn is_of(events: &[Envelope], wanted: &Range) -> bool {
    events.iter().any(|envelope| match &envelope.event {
        Event::FactsGathered { facts, .. } => {
            facts.git_dir.as_ref() == Some(&wanted.git_dir)
                || (facts.remote.is_some() && facts.remote == wanted.remote)
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
    let is_aside = |one: &Envelope| {
        one.stream == daemon && !matches!(one.event, Event::EscapeHatchUsed { .. })
    };
    while let Some(envelope) = journal.event(last)?.filter(is_aside) {
        last = envelope.seq - 1;
    }
    journal.extend(&mut chain, last)?;
    // What a collector has last may have been long on its way. Its run's own event says when it came.
    let mut came = last;
    if journal.is_collector() {
        let is_run = |one: &Envelope| matches!(one.event, Event::RunReceived { .. });
        while journal.event(came)?.is_some_and(|one| !is_run(&one)) {
            came -= 1;
        }
    }
    let at = journal.event(came)?.map(|envelope| envelope.recorded_at);
    Ok(Head {
        id: identity.journal.to_string(),
        seq: last,
        at: at.unwrap_or_default(),
        chain: chain.text(),
    })
}
