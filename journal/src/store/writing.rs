//! Writes to the store. New events stay in memory, with all that finds them; sled gets them in few, large writes.

use std::collections::HashMap;

use uuid::Uuid;

use super::sealed_index::Entry;
use super::tail::Held;
use super::trees::{Trees, guarded, stream_key};
use super::{Item, SessionEntry, Store};
use crate::codec::{self, ELSEWHERE};
use crate::error::Result;

/// A larger tail goes into sled, whatever the log has sealed.
const TAIL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Entries of sessions that an append changes.
type Touched = HashMap<Uuid, SessionEntry>;

impl Store {
    /// Adds events that no sealed segment has. Only the promises among them are written to sled: they are few, and the rest
    /// of a store that was killed is read from the log again.
    pub(crate) fn put(&self, items: &[Item]) -> Result<()> {
        let touched = self.touched(items);
        let trees = self.trees()?;
        settle(&trees, items)?;
        drop(trees);
        let is_large = self.extend_tail(items);
        self.extend_entries(touched);
        if is_large { self.empty_tail() } else { Ok(()) }
    }

    /// Writes events to sled that no sealed segment has.
    pub(crate) fn put_kept(&self, items: &[Item]) -> Result<()> {
        self.put_with(items, |_| true)
    }

    /// Writes events to sled that a sealed segment has: only the last one is kept here.
    pub(crate) fn put_sealed(&self, items: &[Item]) -> Result<()> {
        let last = items.last().map(|item| item.envelope.seq);
        self.put_with(items, |seq| Some(seq) == last)
    }

    fn put_with(&self, items: &[Item], is_kept: impl Fn(u64) -> bool) -> Result<()> {
        let touched = self.touched(items);
        let trees = self.trees()?;
        settle(&trees, items)?;
        let (kept, sealed): (Vec<&Item>, Vec<&Item>) =
            items.iter().partition(|item| is_kept(item.envelope.seq));
        let sealed = sealed.into_iter().map(|item| (&item.envelope).into());
        let sealed: Vec<Entry> = sealed.collect();
        let kept: Vec<Held> = kept.into_iter().map(Held::from).collect();
        self.write(&trees, &sealed, &kept, touched.values())?;
        self.extend_entries(touched);
        Ok(())
    }

    /// Writes the entries of sealed events, and events that are kept here with theirs; the events themselves last, so every
    /// readable event is indexed.
    ///
    /// Each entry is a write of its own: after a crash sled has a prefix of what one thread wrote, and a sled batch would
    /// flush its buffers twice for each tree. Writing the same events again is harmless, and recovery does.
    pub(super) fn write<'a>(
        &self,
        trees: &Trees,
        sealed: &[Entry],
        kept: &[Held],
        mut sessions: impl Iterator<Item = &'a SessionEntry>,
    ) -> Result<()> {
        trees.index_sealed(sealed)?;
        self.sealed_ids.write().add(sealed);
        guarded("write events", || {
            for Held { entry, payload, .. } in kept {
                let seq = entry.seq.to_be_bytes();
                trees.ids.insert(entry.id.as_bytes(), &seq)?;
                let key = stream_key(entry.session, entry.seq);
                trees.streams.insert(key, &[])?;
                if let Some(payload) = payload {
                    // A copy: what sled keeps must not hold the memory of a whole group.
                    trees.payloads.insert(seq, &**payload)?;
                }
            }
            sessions.try_for_each(|entry| {
                let value = serde_json::to_vec(entry).expect("an entry holds only plain data");
                let key = entry.stream.session;
                trees.sessions.insert(key.as_bytes(), value).map(drop)
            })?;
            if sealed.first().is_some_and(|entry| entry.seq == 1) {
                trees.events.insert(1_u64.to_be_bytes(), &ELSEWHERE)?;
            }
            kept.iter().try_for_each(|held| {
                let key = held.entry.seq.to_be_bytes();
                trees.events.insert(key, &*held.event).map(drop)
            })
        })
    }

    /// Returns the entries of the sessions that the events belong to, updated by them.
    fn touched(&self, items: &[Item]) -> Touched {
        let mut touched = Touched::new();
        for Item { envelope, .. } in items {
            let session = envelope.stream.session;
            let entry = match touched.remove(&session).or_else(|| self.entry(session)) {
                Some(entry) => entry.with(envelope),
                None => SessionEntry::new(envelope),
            };
            touched.insert(session, entry);
        }
        touched
    }

    /// Adds events to the tail. Returns whether it has become too large.
    fn extend_tail(&self, items: &[Item]) -> bool {
        let held: Vec<Held> = items.iter().map(Held::from).collect();
        let mut tail = self.tail.write();
        held.into_iter().for_each(|held| tail.push(held));
        tail.bytes() > TAIL_BYTES_MAX
    }

    fn extend_entries(&self, touched: Touched) {
        let mut entries = self.entries.write();
        entries.extend(touched);
    }
}

impl From<&Item> for Held {
    fn from(item: &Item) -> Self {
        Self {
            entry: (&item.envelope).into(),
            event: item.event.clone(),
            payload: (*item.payload != codec::NO_PAYLOAD).then(|| item.payload.clone()),
        }
    }
}

/// Writes the promises among events, and what settles them.
fn settle(trees: &Trees, items: &[Item]) -> Result<()> {
    guarded("write promises", || {
        let mut envelopes = items.iter().map(|item| &item.envelope);
        envelopes.try_for_each(|envelope| trees.settle(envelope))
    })
}
