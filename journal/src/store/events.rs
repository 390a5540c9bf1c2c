//! Which events the store itself holds: those that no sealed segment has, in memory (tail.rs) or in sled. All others
//! are in the log alone, and are found there by their number. The last event in sled stays: it is the last one that
//! sled has.
//!
//! Events move from memory to sled, and from there to the log. A reader looks in this order, so it misses none.

use std::sync::Arc;

use super::sealed_index::Entry;
use super::tail::{Held, Tail};
use super::trees::{Bytes, Trees, guarded, pairs, seq_of, stream_key};
use crate::Envelope;
use crate::codec::{self, ELSEWHERE};
use crate::error::{Error, Result};
use crate::intake::Lookup;
use parking_lot::RwLock;

/// Reads events from memory, sled, or a sealed segment.
pub(super) struct Events {
    pub(super) trees: Arc<Trees>,
    pub(super) tail: Arc<RwLock<Tail>>,
    pub(super) log: Arc<Lookup>,
}

impl Events {
    /// Looks at an event of the tail.
    fn held<T>(&self, seq: u64, get: impl FnOnce(&Held) -> T) -> Option<T> {
        let tail = self.tail.read();
        tail.get(seq).map(get)
    }

    /// Returns an event value that the store itself holds.
    pub(super) fn kept(&self, seq: u64) -> Result<Option<Bytes>> {
        if let Some(value) = self.held(seq, |held| held.event.clone()) {
            return Ok(Some(value));
        }
        let value = guarded("read an event", || self.trees.events.get(seq.to_be_bytes()))?;
        Ok(value.filter(|value| **value != ELSEWHERE))
    }

    /// Returns a payload value that the store itself holds.
    pub(super) fn kept_payload(&self, seq: u64) -> Result<Option<Bytes>> {
        match self.held(seq, |held| held.payload.clone()) {
            Some(payload) => Ok(payload),
            None => guarded("read a payload", || {
                self.trees.payloads.get(seq.to_be_bytes())
            }),
        }
    }

    pub(super) fn last_seq(&self) -> Result<u64> {
        let tail = self.tail.read();
        let last = tail.last();
        drop(tail);
        last.map_or_else(|| self.trees.last_seq(), Ok)
    }

    pub(super) fn value(&self, seq: u64) -> Result<Option<Bytes>> {
        let kept = self.kept(seq)?;
        if kept.is_some() || seq > self.last_seq()? {
            return Ok(kept);
        }
        Ok(self.log.find(seq)?.map(|found| found.event.into()))
    }

    pub(super) fn payload(&self, seq: u64) -> Result<Option<Bytes>> {
        let kept = self.kept_payload(seq)?;
        if kept.is_some() || self.kept(seq)?.is_some() {
            return Ok(kept);
        }
        let found = self.log.find(seq)?.map(|found| found.payload);
        let found = found.filter(|payload| *payload != codec::NO_PAYLOAD);
        Ok(found.map(Bytes::from))
    }

    /// Iterates over the events `from..=last`, in order. A missing event is an error, which ends it.
    pub(super) fn between(self, from: u64, last: u64) -> impl Iterator<Item = Result<Envelope>> {
        let mut next = from.max(1);
        std::iter::from_fn(move || {
            if next > last {
                return None;
            }
            let read = match self.value(next) {
                Ok(Some(value)) => codec::decode_event(&value),
                Ok(None) => Err(Error::missing("the journal", next)),
                Err(error) => Err(error),
            };
            next = if read.is_ok() { next + 1 } else { u64::MAX };
            Some(read)
        })
    }
}

impl Trees {
    /// Returns the last event that has an entry in sled.
    pub(super) fn last_seq(&self) -> Result<u64> {
        let last = guarded("read the last event", || self.events.last())?;
        last.map_or(Ok(0), |(key, _)| seq_of(&key))
    }

    /// Removes the entries of an event that the index of sealed ones has. The payload goes last: a reader that misses the
    /// event asks the log for both.
    pub(super) fn release(&self, entry: &Entry) -> Result<()> {
        let key = entry.seq.to_be_bytes();
        guarded("release an event", || {
            self.ids.remove(entry.id.as_bytes())?;
            self.streams.remove(stream_key(entry.session, entry.seq))?;
            if entry.seq == 1 {
                self.events.insert(key, &ELSEWHERE)?;
            } else {
                self.events.remove(key)?;
            }
            self.payloads.remove(key).map(drop)
        })
    }

    /// Removes payloads whose events are released: a crash may have left them.
    pub(super) fn remove_stray_payloads(&self, last: u64) -> Result<()> {
        let walk = Ok(self.payloads.range(..last.to_be_bytes()));
        for pair in pairs("read payloads", walk) {
            let (key, _) = pair?;
            guarded("release a payload", || {
                let event = self.events.get(&key)?;
                if event.is_none_or(|event| *event == ELSEWHERE) {
                    self.payloads.remove(&key)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
