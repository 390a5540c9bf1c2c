//! Open work: what a session has left undone, from the answer table of its last judged stop (spec EVID-18). Every view
//! that shows open work asks here.

use std::collections::HashMap;

use actors::session_state;
use checkpoint::Policy;
use checkpoint::follow_up::{self, OpenWork};
use checkpoint::state::SessionState;
use journal::{Event, Journal, SessionEntry, Stream};

use super::guard::Daemons;
use super::marks::Marks;
use super::own_runs::{OwnRuns, folder};
use super::question::{Emit, Result, send};
use crate::ops::views::OpenView;

/// Events that are read at first to find a session's last evidence.
const BACK: u64 = 512;

/// Finds open work, with the policies and the person's own runs read once.
pub(crate) struct Finder<'a> {
    journal: &'a Journal,
    known: Option<(HashMap<u64, Policy>, OwnRuns)>,
}

impl<'a> Finder<'a> {
    pub(crate) const fn new(journal: &'a Journal) -> Self {
        Self {
            journal,
            known: None,
        }
    }

    /// Returns what a session has left open; `None` if that is unknown, or if it never got a checkpoint, so that it has
    /// nothing that was asked for. Only its newest events are read.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn find(
        &mut self,
        entry: &SessionEntry,
        state: &SessionState,
    ) -> Result<Option<OpenWork>> {
        if state.counts.injected == 0 {
            return Ok(None);
        }
        self.judged(entry, state)
    }

    /// As [`Self::find`], also of a session that never got a checkpoint.
    fn judged(&mut self, entry: &SessionEntry, state: &SessionState) -> Result<Option<OpenWork>> {
        let mut back = BACK;
        loop {
            let after = entry.last_seq.saturating_sub(back);
            let events = self
                .journal
                .stream(entry.stream.session, after, usize::MAX)?;
            let evidence = events
                .iter()
                .rev()
                .find_map(|envelope| match &envelope.event {
                    Event::EvidenceGathered { trigger, evidence }
                        if follow_up::is_judged(evidence) =>
                    {
                        Some((envelope.seq, *trigger))
                    }
                    _ => None,
                });
            if let Some((seq, trigger)) = evidence
                && let Some(first) = events.iter().position(|envelope| envelope.seq == trigger)
            {
                // Nothing was asked of a session of the past.
                if self.journal.is_imported(seq) {
                    return Ok(None);
                }
                let events = &events[first..];
                let marks = Marks::of_session(events);
                let (policies, own) = self.known()?;
                let own = own.of(&folder(state.project()));
                let found = follow_up::open_work(events, policies, &own);
                // What a person called wrong is not asked for.
                return Ok(found.filter(|found| !marks.any(found.decision)));
            }
            if after == 0 {
                return Ok(None);
            }
            back = back.saturating_mul(8);
        }
    }

    fn known(&mut self) -> Result<&(HashMap<u64, Policy>, OwnRuns)> {
        let known = match self.known.take() {
            Some(known) => known,
            None => (
                policies(self.journal)?,
                OwnRuns::read(self.journal, u64::MAX)?,
            ),
        };
        Ok(self.known.insert(known))
    }
}

/// Returns all policies of the journal, by fingerprint.
pub(super) fn policies(journal: &Journal) -> Result<HashMap<u64, Policy>> {
    let mut policies = HashMap::new();
    for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
        if let Event::PolicyAdopted { fingerprint, text } = &envelope.event
            && let Ok(policy) = Policy::from_text(text)
        {
            policies.insert(*fingerprint, policy);
        }
    }
    Ok(policies)
}

/// Emits the answer table of one session, with what is open.
pub(super) fn table(journal: &Journal, entry: &SessionEntry, emit: &mut Emit<'_>) -> Result<()> {
    let state = session_state::load(journal, &entry.stream)?;
    let found = Finder::new(journal).judged(entry, &state)?;
    let events = journal.stream(entry.stream.session, 0, usize::MAX)?;
    let daemons = Daemons::read(journal, u64::MAX)?;
    let switches = checkpoint::record::switches(&events, daemons.of(&events));
    send(emit, &OpenView::new(entry.stream.session, found, switches))
}
