//! Moves events from memory to sled, and lets the store go of those that the log has sealed.

use super::sealed_index::Entry;
use super::tail::{Held, Tail};
use super::trees::{Bytes, guarded, pairs, seq_of};
use super::{SessionEntry, Store};
use crate::Envelope;
use crate::codec::{self, ELSEWHERE};
use crate::error::Result;
use crate::intake::Found;

impl Store {
    /// Returns an event value that the store itself holds.
    pub(crate) fn kept_event(&self, seq: u64) -> Result<Option<Bytes>> {
        self.events()?.kept(seq)
    }

    /// Returns a payload value that the store itself holds.
    pub(crate) fn kept_payload(&self, seq: u64) -> Result<Option<Bytes>> {
        self.events()?.kept_payload(seq)
    }

    /// Iterates over the events from `from` on that the store itself holds, in order. An event that is moved meanwhile may
    /// come twice.
    pub(crate) fn kept_from(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        // First, because they move to the other side.
        let held = self.tail.read().from(from);
        let trees = self.trees();
        let walk = trees.map(|trees| trees.events.range(from.to_be_bytes()..));
        pairs("read events", walk)
            .filter(|pair| !matches!(pair, Ok((_, value)) if **value == ELSEWHERE))
            .map(|pair| pair.map(|(_, value)| value))
            .chain(held.into_iter().map(|held| Ok(held.event)))
            .map(|value| codec::decode_event(&value?))
    }

    /// Returns whether there is an entry in sled for an event, which says at least that it is in the log.
    pub(crate) fn has_entry(&self, seq: u64) -> Result<bool> {
        let trees = self.trees()?;
        guarded("read an event", || {
            trees.events.contains_key(seq.to_be_bytes())
        })
    }

    /// Hands the events over to the index of sealed ones that sealed segments have, each only after it was read there. What a
    /// damaged segment does not have stays. `sealed_from` is the first event of the segment that was sealed last.
    pub(crate) fn release_sealed(&self, sealed_from: u64) -> Result<()> {
        self.log.forget();
        let first = self.tail.read().first();
        let is_sealed = first.is_some_and(|first| !matches!(self.log.find(first), Ok(None)));
        self.hand_over(sealed_from, is_sealed)
    }

    /// Moves all events from memory to sled.
    pub(crate) fn empty_tail(&self) -> Result<()> {
        if self.tail.read().first().is_none() {
            return Ok(());
        }
        self.log.forget();
        self.hand_over(1, true)
    }

    fn hand_over(&self, sealed_from: u64, with_tail: bool) -> Result<()> {
        let _removing = self.removing.lock();
        let events = self.events()?;
        let held = match with_tail {
            true => self.tail.read().from(1),
            false => Vec::new(),
        };
        // The last event in sled marks how much sled has, and stays.
        let in_sled = events.trees.last_seq()?;
        let last = held.last().map_or(in_sled, |held| held.entry.seq);
        let released = self.sealed_in_sled(last, sealed_from)?;
        let is_sealed = |held: &Held| {
            let found = self.log.find(held.entry.seq).ok().flatten();
            held.entry.seq < last
                && found.is_some_and(|found| is_same(&held.event, held.payload.as_deref(), &found))
        };
        let (sealed, kept): (Vec<Held>, Vec<Held>) = held.into_iter().partition(is_sealed);
        let sealed = sealed.iter().map(|held| held.entry);
        let sealed: Vec<Entry> = released.iter().copied().chain(sealed).collect();
        let sessions: Vec<SessionEntry> = match with_tail {
            true => self.tail_sessions(),
            false => Vec::new(),
        };
        self.write(&events.trees, &sealed, &kept, sessions.iter())?;
        if with_tail {
            *self.tail.write() = Tail::default();
        }
        let mut released = released.iter();
        released.try_for_each(|entry| events.trees.release(entry))?;
        events.trees.remove_stray_payloads(last)
    }

    /// Returns the events before `last` in sled that a sealed segment has just so.
    fn sealed_in_sled(&self, last: u64, sealed_from: u64) -> Result<Vec<Entry>> {
        let trees = self.trees()?;
        let mut sealed = Vec::new();
        for pair in pairs("read events", Ok(trees.events.range(..last.to_be_bytes()))) {
            let (key, value) = pair?;
            let seq = seq_of(&key)?;
            match self.log.find(seq) {
                Ok(Some(found)) => {
                    let payload = guarded("read a payload", || trees.payloads.get(&key))?;
                    if is_same(&value, payload.as_deref(), &found) {
                        sealed.push(Entry::from(&codec::decode_event(&value)?));
                    }
                }
                Ok(None) if seq >= sealed_from => break,
                _ => {}
            }
        }
        Ok(sealed)
    }

    fn tail_sessions(&self) -> Vec<SessionEntry> {
        let tail = self.tail.read();
        let sessions = tail.streams().keys();
        let entries = sessions.filter_map(|session| self.entry(*session));
        entries.collect()
    }
}

/// Returns whether the log has an event as the store holds it.
fn is_same(event: &[u8], payload: Option<&[u8]>, found: &Found) -> bool {
    found.event == event && codec::is_same_payload(payload, &found.payload)
}
