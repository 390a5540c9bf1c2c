//! The events that sled does not have yet: mostly those of the log's open segment. They are kept in memory, with their
//! entries of the indexes, because each write to sled costs far more than its bytes. What is here is in the log, and the
//! next start reads it from there.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::sealed_index::Entry;
use super::trees::Bytes;
use crate::codec;

/// An event with its two values.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) entry: Entry,
    pub(super) event: Bytes,
    pub(super) payload: Option<Bytes>,
}

/// Events in order, and how they are found.
#[derive(Default)]
pub(super) struct Tail {
    events: BTreeMap<u64, Held>,
    ids: HashMap<Uuid, u64>,
    streams: HashMap<Uuid, Vec<u64>>,
    bytes: usize,
}

impl Tail {
    /// Adds an event that comes after all others.
    pub(super) fn push(&mut self, held: Held) {
        let Entry { seq, id, session } = held.entry;
        self.bytes += held.event.len() + held.payload.as_ref().map_or(0, |payload| payload.len());
        if self.events.insert(seq, held).is_none() {
            self.ids.insert(id, seq);
            self.streams.entry(session).or_default().push(seq);
        }
    }

    /// Returns the bytes of the events and their payloads.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.events.first_key_value().map(|(seq, _)| *seq)
    }

    pub(super) fn last(&self) -> Option<u64> {
        self.events.last_key_value().map(|(seq, _)| *seq)
    }

    pub(super) fn get(&self, seq: u64) -> Option<&Held> {
        self.events.get(&seq)
    }

    /// Returns the events from `from` on, in order.
    pub(super) fn from(&self, from: u64) -> Vec<Held> {
        let found = self.events.range(from..);
        found.map(|(_, held)| held.clone()).collect()
    }

    pub(super) const fn ids(&self) -> &HashMap<Uuid, u64> {
        &self.ids
    }

    pub(super) const fn streams(&self) -> &HashMap<Uuid, Vec<u64>> {
        &self.streams
    }

    /// Returns a session's events from `from` on, at most `limit`.
    pub(super) fn stream(&self, session: Uuid, from: u64, limit: usize) -> Vec<u64> {
        let all = self.streams.get(&session).map_or(&[][..], Vec::as_slice);
        let behind = all.partition_point(|seq| *seq < from);
        all[behind..].iter().take(limit).copied().collect()
    }

    /// Replaces a payload by the mark of a dropped one. Returns whether the event is here.
    pub(super) fn drop_payload(&mut self, seq: u64) -> bool {
        let held = self.events.get_mut(&seq);
        let dropped = Some(codec::DROPPED.as_slice().into());
        held.map(|held| held.payload = dropped).is_some()
    }

    /// Removes an event but not its entries.
    #[cfg(test)]
    pub(super) fn forget(&mut self, seq: u64) {
        self.events.remove(&seq);
    }
}
