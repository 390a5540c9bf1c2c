//! Lets the store go of events that the log has sealed.

use super::Store;
use super::sealed_index::Entry;
use super::trees::{Bytes, guarded, pairs, seq_of};
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
        let trees = self.trees()?;
        guarded("read a payload", || trees.payloads.get(seq.to_be_bytes()))
    }

    /// Iterates over the events from `from` on that the store itself holds, in order.
    pub(crate) fn kept_from(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        let walk = self
            .trees()
            .map(|trees| trees.events.range(from.to_be_bytes()..));
        pairs("read events", walk)
            .filter(|pair| !matches!(pair, Ok((_, value)) if **value == ELSEWHERE))
            .map(|pair| codec::decode_event(&pair?.1))
    }

    /// Returns whether there is an entry for an event, which says at least that it is in the log.
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
        let events = self.events()?;
        let last = events.last_seq()?;
        let mut released = Vec::new();
        let walk = Ok(events.trees.events.range(..last.to_be_bytes()));
        for pair in pairs("read events", walk) {
            let (key, value) = pair?;
            let seq = seq_of(&key)?;
            match self.log.find(seq) {
                Ok(Some(found)) if self.is_same(seq, &value, &found)? => {
                    released.push(Entry::from(&codec::decode_event(&value)?));
                }
                Ok(None) if seq >= sealed_from => break,
                _ => {}
            }
        }
        events.trees.index_sealed(&released)?;
        self.sealed_ids_mut().add(&released);
        released
            .iter()
            .try_for_each(|entry| events.trees.release(entry))?;
        events.trees.remove_stray_payloads(last)
    }

    /// Returns whether the log has an event as the store holds it.
    fn is_same(&self, seq: u64, value: &[u8], found: &Found) -> Result<bool> {
        let payload = self.kept_payload(seq)?;
        Ok(found.event == value && codec::is_same_payload(payload.as_deref(), &found.payload))
    }
}
