//! Reading a journal: events, sessions, promises, decisions, snapshots, and verification.

use uuid::Uuid;

use crate::chain::Chain;
use crate::error::{Error, Result};
use crate::log::Journal;
use crate::recovery::verify::{self, Verified};
use crate::{Envelope, Outcome, Payload, SessionEntry, Timestamp, intake, layout};

impl Journal {
    /// Adds the events after the chain's last one to the chain, up to `last`.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or lacks an event.
    pub fn extend(&self, chain: &mut Chain, last: u64) -> Result<()> {
        while chain.seq < last {
            let seq = chain.seq + 1;
            let event = self.store().event_value(seq)?;
            chain.take(&event.ok_or_else(|| Error::missing("the store", seq))?);
        }
        Ok(())
    }

    /// Returns one event.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, as for all readers below.
    pub fn event(&self, seq: u64) -> Result<Option<Envelope>> {
        self.store().event(seq)
    }

    /// Returns the payload of an event, if it is still stored.
    pub fn payload(&self, seq: u64) -> Result<Option<String>> {
        self.kept_payload(seq).map(Payload::into_text)
    }

    /// Returns the payload of an event, or that it was dropped.
    pub fn kept_payload(&self, seq: u64) -> Result<Payload> {
        self.store().payload(seq)
    }

    /// Iterates over all events from `from`, in order.
    pub fn events_from(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        self.store().events_from(from)
    }

    /// Returns a session's events after `after`, in order, at most `limit`.
    pub fn stream(&self, session: Uuid, after: u64, limit: usize) -> Result<Vec<Envelope>> {
        let store = self.store();
        let seqs = store.stream_seqs(session, after, limit)?;
        let events = seqs.into_iter().map(|seq| {
            let event = store.event(seq)?;
            event.ok_or_else(|| Error::missing("the store", seq))
        });
        events.collect()
    }

    /// Returns the summary of a session.
    pub fn session(&self, session: Uuid) -> Option<SessionEntry> {
        self.store().entry(session)
    }

    /// Returns the summaries of all sessions, oldest first.
    pub fn sessions(&self) -> Vec<SessionEntry> {
        self.store().entries()
    }

    /// Returns the session and sequence number of each stop, restart and delivery that no later event has settled.
    pub fn unsettled(&self) -> Result<Vec<(Uuid, u64)>> {
        self.store().unsettled()
    }

    /// Iterates over the decisions before `before` with the outcomes of their deliveries, newest first.
    pub fn decisions_before(
        &self,
        before: u64,
    ) -> impl Iterator<Item = Result<(u64, Outcome)>> + use<> {
        self.store().decisions_before(before)
    }

    /// Returns the outcome of a delivery; `None` if the event is not a decision.
    pub fn outcome(&self, decision: u64) -> Result<Option<Outcome>> {
        self.store().outcome(decision)
    }

    /// Returns a session's snapshot: the sequence number at which it was taken, and its bytes.
    pub fn snapshot(&self, session: Uuid) -> Result<Option<(u64, Vec<u8>)>> {
        self.store().snapshot(session)
    }

    /// Stores a snapshot of a session at `seq`, replacing an older one. It may be lost at any time.
    pub fn put_snapshot(&self, session: Uuid, seq: u64, bytes: &[u8]) -> Result<()> {
        self.store().put_snapshot(session, seq, bytes)
    }

    /// Removes all snapshots; the next reader folds from the first event.
    pub fn clear_snapshots(&self) -> Result<()> {
        self.store().clear_snapshots()
    }

    /// Returns the sizes on disk, in bytes, of the store and of the intake log.
    pub fn disk_bytes(&self) -> (u64, u64) {
        let segments = intake::segments(&layout::intake_dir(self.dir())).unwrap_or_default();
        let sizes = segments
            .iter()
            .filter_map(|segment| segment.path.metadata().ok());
        let intake = sizes.map(|meta| meta.len()).sum();
        (self.store().size_on_disk(), intake)
    }

    /// Returns what was damaged in sealed segments and repaired from their parity, and when, oldest first.
    pub fn repaired(&self) -> Vec<(Timestamp, String)> {
        intake::repaired(self.dir())
    }

    /// Checks that the intake log and the store agree.
    ///
    /// # Errors
    ///
    /// Only if reading fails; differences are in the result.
    pub fn verify(&self, progress: impl FnMut(u64, u64)) -> Result<Verified> {
        let last = self.settle()?;
        verify::verify(self.dir(), self.store(), last, progress)
    }
}
