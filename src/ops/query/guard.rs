//! Which agents switched their own checkpoints off (spec EVID-23).

use std::collections::{BTreeMap, HashMap};

use actors::session_state;
use checkpoint::record::{Switch, switches};
use journal::{Agent, Envelope, Journal, Stream, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::question::{Emit, Result, send};

/// The newest events that are looked through.
const NEWEST: u64 = 10_000;

/// A session whose agent switched its checkpoints off.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Unguarded {
    pub(crate) session: Uuid,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    /// What it did, in order.
    pub(crate) switches: Vec<Switch>,
}

/// Emits the sessions whose agents switched their checkpoints off since a time, by the newest events.
pub(super) fn unguarded(journal: &Journal, since: Timestamp, emit: &mut Emit<'_>) -> Result<()> {
    let from = (journal.last_seq() + 1).saturating_sub(NEWEST).max(1);
    let mut streams = BTreeMap::new();
    for envelope in journal.events_from(from) {
        let envelope = envelope?;
        // What an event by itself may be. Who did it is said by the events before it.
        let may_be = !switches(std::slice::from_ref(&envelope), &[]).is_empty();
        if envelope.at >= since && may_be && !journal.is_imported(envelope.seq) {
            streams.insert(envelope.stream.session, envelope.stream);
        }
    }
    let daemons = Daemons::read(journal, u64::MAX)?;
    for (session, stream) in streams {
        let events = journal.stream(session, 0, usize::MAX)?;
        let mut own = switches(&events, daemons.of(&events));
        own.retain(|switch| switch.is_by_agent() && switch.at >= since);
        if own.is_empty() {
            continue;
        }
        let state = session_state::load(journal, &stream)?;
        let found = Unguarded {
            session,
            agent: stream.agent,
            project: state.project().to_owned(),
            switches: own,
        };
        send(emit, &found)?;
    }
    Ok(())
}

/// What daemons said of themselves, by the journal that says so: a collector has those of many.
pub(super) struct Daemons(HashMap<Option<Uuid>, Vec<Envelope>>);

fn source(envelope: &Envelope) -> Option<Uuid> {
    Some(envelope.origin.as_ref()?.journal)
}

impl Daemons {
    /// Reads those up to an event.
    pub(super) fn read(journal: &Journal, until: u64) -> Result<Self> {
        let mut daemons: HashMap<_, Vec<_>> = HashMap::new();
        for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
            if envelope.seq <= until {
                let of = daemons.entry(source(&envelope)).or_default();
                of.push(envelope);
            }
        }
        Ok(Self(daemons))
    }

    /// Returns those of the daemon that saw a session.
    pub(super) fn of(&self, session: &[Envelope]) -> &[Envelope] {
        let of = session.first().and_then(source);
        self.0.get(&of).map_or(&[], Vec::as_slice)
    }
}
