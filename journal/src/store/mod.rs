//! The ordered, indexed store that all readers use. It can be rebuilt from the intake log at any time.
//!
//! ```text
//! tree        key                       value
//! events      seq (8 bytes BE)          event value (codec.rs)
//! payloads    seq                       payload value (codec.rs)
//! ids         id (16)                   seq
//! streams     session (16) seq (8)      nothing
//! sessions    session (16)              JSON of a `SessionEntry`
//! unsettled   session (16) seq (8)      nothing: a promise that a later event must settle
//! decisions   seq                       outcome (1 byte)
//! snapshots   session (16)              seq (8), bytes of the caller
//! ```

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::{Envelope, Payload, codec};

mod session_entry;
mod trees;

pub use session_entry::{Outcome, SessionEntry};
pub(crate) use trees::wait_closed;
use trees::{Bytes, RawResult, Trees, count, guarded, pairs, seq_of, stream_key};

/// Entries copied between two flushes: with flushes, sled packs them closer.
const COPY_BATCH: u64 = 1_000;
/// An event to store, with its two encoded values.
pub(crate) struct Item {
    pub(crate) envelope: Envelope,
    pub(crate) event: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// The store. After a failed write sled refuses all others until it is reopened, which [`Store::reopen`] does in place.
pub(crate) struct Store {
    /// `None` while it is reopened.
    trees: RwLock<Option<Arc<Trees>>>,
    entries: RwLock<HashMap<Uuid, SessionEntry>>,
}

impl Store {
    /// Opens the store. Creates a missing one.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another owner keeps it locked, which says nothing about its files; any other error means
    /// that they are not usable.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let trees = Trees::open(path)?;
        let entries = RwLock::new(trees.entries()?);
        Ok(Self {
            trees: RwLock::new(Some(Arc::new(trees))),
            entries,
        })
    }

    /// Closes the store and replaces it with the one that `open` returns. Until then, and after a failure, every call is
    /// refused: a part of the acknowledged events must not pass for all of them.
    ///
    /// # Errors
    ///
    /// Those of `open`; the caller may try again.
    pub(crate) fn reopen(&self, open: impl FnOnce() -> Result<Self>) -> Result<()> {
        drop(
            self.trees
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let fresh = open()?;
        let entries = fresh
            .entries
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = entries;
        let trees = fresh
            .trees
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        *self.trees.write().unwrap_or_else(PoisonError::into_inner) = trees;
        Ok(())
    }

    fn trees(&self) -> Result<Arc<Trees>> {
        let trees = self
            .trees
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        trees.ok_or_else(|| Error::Store {
            doing: "be used",
            kind: ErrorKind::ResourceBusy,
            text: "it is being reopened after a failure".into(),
        })
    }

    pub(crate) fn last_seq(&self) -> Result<u64> {
        let trees = self.trees()?;
        guarded("read the last event", || trees.events.last())?
            .map_or(Ok(0), |(key, _)| seq_of(&key))
    }

    /// Writes events with all their index entries; the events themselves last, so every readable event is indexed.
    ///
    /// Each entry is a write of its own: after a crash sled has a prefix of what one thread wrote, and a sled batch would
    /// flush its buffers twice for each tree. Writing the same events again is harmless, and recovery does.
    pub(crate) fn put(&self, items: &[Item]) -> Result<()> {
        let mut touched: HashMap<Uuid, SessionEntry> = HashMap::new();
        for Item { envelope, .. } in items {
            let session = envelope.stream.session;
            let entry = match touched.remove(&session).or_else(|| self.entry(session)) {
                Some(entry) => entry.with(envelope),
                None => SessionEntry::new(envelope),
            };
            touched.insert(session, entry);
        }
        let trees = self.trees()?;
        guarded("write events", || {
            for Item {
                envelope, payload, ..
            } in items
            {
                let seq = envelope.seq.to_be_bytes();
                trees.ids.insert(envelope.id.as_bytes(), &seq)?;
                trees
                    .streams
                    .insert(stream_key(envelope.stream.session, envelope.seq), &[])?;
                if *payload != codec::NO_PAYLOAD {
                    trees.payloads.insert(seq, payload.as_slice())?;
                }
                trees.settle(envelope)?;
            }
            for entry in touched.values() {
                let value = serde_json::to_vec(entry).expect("an entry holds only plain data");
                trees
                    .sessions
                    .insert(entry.stream.session.as_bytes(), value)?;
            }
            items.iter().try_for_each(|item| {
                trees
                    .events
                    .insert(item.envelope.seq.to_be_bytes(), item.event.as_slice())
                    .map(drop)
            })
        })?;
        self.entries
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(touched);
        Ok(())
    }

    /// Removes an event but not its index entries, like a kill in the middle of [`Store::put`].
    #[cfg(test)]
    pub(crate) fn forget_event(&self, seq: u64) -> Result<()> {
        self.forget("events", &seq.to_be_bytes())
    }

    /// Removes an entry from a tree, given by name.
    #[cfg(test)]
    pub(crate) fn forget(&self, tree: &str, key: &[u8]) -> Result<()> {
        let trees = self.trees()?;
        guarded("remove", || {
            trees
                .db
                .open_tree(tree)?
                .remove(key)
                .and_then(|_| trees.db.flush())
        })
        .map(drop)
    }

    pub(crate) fn entry(&self, session: Uuid) -> Option<SessionEntry> {
        self.entries
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&session)
            .cloned()
    }

    pub(crate) fn entries(&self) -> Vec<SessionEntry> {
        let mut all: Vec<_> = self
            .entries
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect();
        all.sort_by_key(|entry| entry.first_seq);
        all
    }

    pub(crate) fn seq_by_id(&self, id: Uuid) -> Result<Option<u64>> {
        let trees = self.trees()?;
        guarded("look up an id", || trees.ids.get(id.as_bytes()))?
            .map(|value| seq_of(&value))
            .transpose()
    }

    pub(crate) fn event(&self, seq: u64) -> Result<Option<Envelope>> {
        self.event_value(seq)?
            .map(|value| codec::decode_event(&value))
            .transpose()
    }

    pub(crate) fn event_value(&self, seq: u64) -> Result<Option<Bytes>> {
        let trees = self.trees()?;
        guarded("read an event", || trees.events.get(seq.to_be_bytes()))
    }

    pub(crate) fn payload(&self, seq: u64) -> Result<Payload> {
        self.payload_value(seq)?
            .map_or(Ok(Payload::None), |value| codec::decode_payload(&value))
    }

    pub(crate) fn payload_value(&self, seq: u64) -> Result<Option<Bytes>> {
        let trees = self.trees()?;
        guarded("read a payload", || trees.payloads.get(seq.to_be_bytes()))
    }

    /// Replaces a payload by the mark of a dropped one.
    pub(crate) fn drop_payload(&self, seq: u64) -> Result<()> {
        let trees = self.trees()?;
        guarded("drop a payload", || {
            trees.payloads.insert(seq.to_be_bytes(), &codec::DROPPED)
        })
        .map(drop)
    }

    /// Iterates over all events from `from`, in order.
    pub(crate) fn events_from(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        self.events_between(from, u64::MAX)
    }

    /// Iterates over the events `from..=last`, in order.
    pub(crate) fn events_between(
        &self,
        from: u64,
        last: u64,
    ) -> impl Iterator<Item = Result<Envelope>> + use<> {
        let walk = self
            .trees()
            .map(|trees| trees.events.range(from.to_be_bytes()..=last.to_be_bytes()));
        pairs("read events", walk).map(|pair| codec::decode_event(&pair?.1))
    }

    /// Returns the sequence numbers of a session's events after `after`, in order, at most `limit`.
    pub(crate) fn stream_seqs(&self, session: Uuid, after: u64, limit: usize) -> Result<Vec<u64>> {
        let trees = self.trees()?;
        // Index entries after it are being written.
        let last = self.last_seq()?;
        if after >= last {
            return Ok(Vec::new());
        }
        let range = stream_key(session, after + 1)..=stream_key(session, last);
        guarded("read a stream", || {
            trees
                .streams
                .range(range)
                .keys()
                .take(limit)
                .collect::<RawResult<Vec<_>>>()
        })?
        .iter()
        .map(|key| seq_of(key))
        .collect()
    }

    /// Returns whether an event is among those of a session.
    pub(crate) fn is_in_stream(&self, session: Uuid, seq: u64) -> Result<bool> {
        let trees = self.trees()?;
        guarded("read a stream", || {
            trees.streams.contains_key(stream_key(session, seq))
        })
    }

    pub(crate) fn unsettled(&self) -> Result<Vec<(Uuid, u64)>> {
        let trees = self.trees()?;
        let keys = guarded("read promises", || {
            trees.unsettled.iter().keys().collect::<RawResult<Vec<_>>>()
        })?;
        keys.iter()
            .map(|key| {
                let session = key
                    .first_chunk::<16>()
                    .ok_or_else(|| Error::damaged("the store", "a key is too short"))?;
                Ok((Uuid::from_bytes(*session), seq_of(key)?))
            })
            .collect()
    }

    /// Iterates over the decisions before `before` with the outcomes of their deliveries, newest first.
    pub(crate) fn decisions_before(
        &self,
        before: u64,
    ) -> impl Iterator<Item = Result<(u64, Outcome)>> + use<> {
        let walk = self.trees().and_then(|trees| {
            // Index entries after it are being written.
            let before = before.min(self.last_seq()? + 1);
            Ok(trees.decisions.range(..before.to_be_bytes()).rev())
        });
        pairs("read decisions", walk).map(|pair| {
            let (key, value) = pair?;
            Ok((
                seq_of(&key)?,
                Outcome::of(value.first().copied().unwrap_or(0)),
            ))
        })
    }

    pub(crate) fn outcome(&self, decision: u64) -> Result<Option<Outcome>> {
        let trees = self.trees()?;
        let value = guarded("read a decision", || {
            trees.decisions.get(decision.to_be_bytes())
        })?;
        Ok(value.map(|value| Outcome::of(value.first().copied().unwrap_or(0))))
    }

    pub(crate) fn snapshot(&self, session: Uuid) -> Result<Option<(u64, Vec<u8>)>> {
        let trees = self.trees()?;
        let Some(value) = guarded("read a snapshot", || {
            trees.snapshots.get(session.as_bytes())
        })?
        else {
            return Ok(None);
        };
        let Some((seq, bytes)) = value.split_first_chunk::<8>() else {
            return Ok(None);
        };
        Ok(Some((u64::from_be_bytes(*seq), bytes.to_vec())))
    }

    pub(crate) fn put_snapshot(&self, session: Uuid, seq: u64, bytes: &[u8]) -> Result<()> {
        let trees = self.trees()?;
        let value = [&seq.to_be_bytes(), bytes].concat();
        guarded("write a snapshot", || {
            trees.snapshots.insert(session.as_bytes(), value)
        })
        .map(drop)
    }

    pub(crate) fn clear_snapshots(&self) -> Result<()> {
        let trees = self.trees()?;
        guarded("drop snapshots", || trees.snapshots.clear())
    }

    /// Counts the events up to `last` and their index entries, for `verify`.
    pub(crate) fn counts(&self, last: u64) -> Result<[(&'static str, u64); 3]> {
        let trees = self.trees()?;
        Ok([
            (
                "events",
                count(&trees.events, |(key, _)| seq_of(key), last)?,
            ),
            ("ids", count(&trees.ids, |(_, value)| seq_of(value), last)?),
            (
                "streams",
                count(&trees.streams, |(key, _)| seq_of(key), last)?,
            ),
        ])
    }

    /// Copies all entries into an empty store, tree by tree: entries written one after the other are packed together and
    /// take two thirds of the space. `progress` gets the number of entries copied.
    pub(crate) fn copy_to(&self, empty: &Self, mut progress: impl FnMut(u64)) -> Result<()> {
        let from = self.trees()?;
        let to = empty.trees()?;
        let mut done = 0;
        for (from, to) in from.all().into_iter().zip(to.all()) {
            for pair in pairs("read the store", Ok(from.iter())) {
                let (key, value) = pair?;
                guarded("write the store", || to.insert(key, value))?;
                done += 1;
                progress(done);
                if done.is_multiple_of(COPY_BATCH) {
                    empty.flush()?;
                }
            }
            empty.flush()?;
        }
        Ok(())
    }

    pub(crate) fn size_on_disk(&self) -> u64 {
        self.trees()
            .ok()
            .and_then(|trees| trees.db.size_on_disk().ok())
            .unwrap_or(0)
    }

    /// Hands written pages to the system. This is not an fsync and not needed for durability; it shortens the next
    /// recovery.
    pub(crate) fn flush(&self) -> Result<()> {
        let trees = self.trees()?;
        guarded("flush", || trees.db.flush()).map(drop)
    }
}
