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
//! snapshots   session (16)              seq (8), length (4 LE), bytes of the caller with zstd
//! ids_sealed  first seq                 instead of `ids`, many events (sealed_index.rs)
//! runs        session (16) first seq    instead of `streams`, many events
//! ```
//!
//! `events`, `payloads`, `ids` and `streams` have entries of the events that the log has not sealed (kept.rs), except for
//! those that are only in memory so far (tail.rs).

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use uuid::Uuid;

use crate::codec;
use crate::error::{Error, Result};
use crate::intake::Lookup;
use crate::{Envelope, Payload};

mod count;
mod events;
mod packing;
mod release;
mod sealed_index;
mod session_entry;
mod snapshots;
mod tail;
mod trees;
mod writing;

use events::Events;
use sealed_index::SealedIds;
pub use session_entry::{Outcome, SessionEntry};
use tail::Tail;
pub(crate) use trees::Bytes;
pub(crate) use trees::wait_closed;
use trees::{RawResult, Trees, guarded, pairs, seq_of, session_of, stream_key};

/// An event to store, with its two encoded values. They may share memory with others of their group.
pub(crate) struct Item {
    pub(crate) envelope: Envelope,
    pub(crate) event: Bytes,
    pub(crate) payload: Bytes,
}

/// The store. After a failed write sled refuses all others until it is reopened, which [`Store::reopen`] does in place.
pub(crate) struct Store {
    /// `None` while it is reopened.
    trees: RwLock<Option<Arc<Trees>>>,
    /// The events that sled does not have yet.
    tail: Arc<RwLock<Tail>>,
    entries: RwLock<HashMap<Uuid, SessionEntry>>,
    sealed_ids: RwLock<SealedIds>,
    /// The ids of the events that it holds, while it is packed: appends need not wait for that.
    packed_ids: RwLock<Option<HashMap<Uuid, u64>>>,
    /// Held by those who remove something that must not come back with the copy.
    removing: Mutex<()>,
    /// Events in sealed segments.
    log: Arc<Lookup>,
}

impl Store {
    /// Opens the store of the log in `intake`. Creates a missing one.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another owner keeps it locked, which says nothing about its files; any other error means
    /// that they are not usable.
    pub(crate) fn open(path: &Path, intake: &Path) -> Result<Self> {
        let trees = Trees::open(path)?;
        let entries = RwLock::new(trees.entries()?);
        let sealed_ids = RwLock::new(SealedIds::load(&trees)?);
        Ok(Self {
            sealed_ids,
            packed_ids: RwLock::default(),
            removing: Mutex::default(),
            trees: RwLock::new(Some(Arc::new(trees))),
            tail: Arc::default(),
            entries,
            log: Arc::new(Lookup::new(intake.to_owned())),
        })
    }

    /// Closes the store and replaces it with the one that `open` returns. Until then, and after a failure, every call is
    /// refused: a part of the acknowledged events must not pass for all of them.
    ///
    /// # Errors
    ///
    /// Those of `open`; the caller may try again.
    pub(crate) fn reopen(&self, open: impl FnOnce() -> Result<Self>) -> Result<()> {
        drop(self.trees.write().take());
        let fresh = open()?;
        let entries = fresh.entries.into_inner();
        *self.entries.write() = entries;
        *self.tail.write() = std::mem::take(&mut *fresh.tail.write());
        let trees = fresh.trees.into_inner();
        *self.trees.write() = trees;
        *self.sealed_ids.write() = fresh.sealed_ids.into_inner();
        self.log.forget();
        Ok(())
    }

    fn trees(&self) -> Result<Arc<Trees>> {
        let trees = self.trees.read().clone();
        trees.ok_or_else(|| Error::Store {
            doing: "be used",
            kind: ErrorKind::ResourceBusy,
            text: "it is being reopened after a failure".into(),
        })
    }

    fn events(&self) -> Result<Events> {
        Ok(Events {
            trees: self.trees()?,
            tail: Arc::clone(&self.tail),
            log: Arc::clone(&self.log),
        })
    }

    /// Says that segments of the log were sealed or replaced.
    pub(crate) fn log_changed(&self) {
        self.log.forget();
    }

    pub(crate) fn last_seq(&self) -> Result<u64> {
        self.events()?.last_seq()
    }

    /// Removes an event but not its index entries, like a kill in the middle of [`Store::put`].
    #[cfg(test)]
    pub(crate) fn forget_event(&self, seq: u64) -> Result<()> {
        self.tail.write().forget(seq);
        self.forget("events", &seq.to_be_bytes())
    }

    /// Removes an entry from a tree, given by name.
    #[cfg(test)]
    pub(crate) fn forget(&self, tree: &str, key: &[u8]) -> Result<()> {
        let trees = self.trees()?;
        guarded("remove", || {
            trees.db.open_tree(tree)?.remove(key)?;
            trees.db.flush().map(drop)
        })
    }

    pub(crate) fn entry(&self, session: Uuid) -> Option<SessionEntry> {
        self.entries.read().get(&session).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<SessionEntry> {
        let mut all: Vec<_> = self.entries.read().values().cloned().collect();
        all.sort_by_key(|entry| entry.first_seq);
        all
    }

    pub(crate) fn seq_by_id(&self, id: Uuid) -> Result<Option<u64>> {
        if let Some(seq) = self.kept_by_id(id)? {
            return Ok(Some(seq));
        }
        let candidates: Vec<u64> = self.sealed_ids.read().candidates(id).collect();
        // An event that cannot be read is taken for the one: a second id with the same hash is next to impossible.
        let is_it = |seq: &u64| {
            let found = self.log.find(*seq).and_then(|found| match found {
                Some(found) => codec::decode_event(&found.event).map(Some),
                None => self.event(*seq),
            });
            found.map_or(true, |found| found.is_some_and(|event| event.id == id))
        };
        Ok(candidates.into_iter().find(is_it))
    }

    /// Returns the event with an id among those that the store holds. Does not wait while it is packed.
    fn kept_by_id(&self, id: Uuid) -> Result<Option<u64>> {
        if let Some(seq) = self.tail.read().ids().get(&id) {
            return Ok(Some(*seq));
        }
        let packed = self.packed_ids.read();
        if let Some(ids) = &*packed {
            return Ok(ids.get(&id).copied());
        }
        let trees = self.trees()?;
        let value = guarded("look up an id", || trees.ids.get(id.as_bytes()))?;
        value.map(|value| seq_of(&value)).transpose()
    }

    pub(crate) fn event(&self, seq: u64) -> Result<Option<Envelope>> {
        let value = self.event_value(seq)?;
        value.map(|value| codec::decode_event(&value)).transpose()
    }

    pub(crate) fn event_value(&self, seq: u64) -> Result<Option<Bytes>> {
        self.events()?.value(seq)
    }

    pub(crate) fn payload(&self, seq: u64) -> Result<Payload> {
        let value = self.payload_value(seq)?;
        value.map_or(Ok(Payload::None), |value| codec::decode_payload(&value))
    }

    pub(crate) fn payload_value(&self, seq: u64) -> Result<Option<Bytes>> {
        self.events()?.payload(seq)
    }

    /// Replaces a payload by the mark of a dropped one.
    pub(crate) fn drop_payload(&self, seq: u64) -> Result<()> {
        let _removing = self.removing.lock();
        if self.tail.write().drop_payload(seq) {
            return Ok(());
        }
        let trees = self.trees()?;
        guarded("drop a payload", || {
            let payloads = &trees.payloads;
            payloads
                .insert(seq.to_be_bytes(), &codec::DROPPED)
                .map(drop)
        })
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
        let events = self.events();
        let found = events.and_then(|events| Ok((events.last_seq()?.min(last), events)));
        let (error, walk) = match found {
            Ok((last, events)) => (None, Some(events.between(from, last))),
            Err(error) => (Some(Err(error)), None),
        };
        error.into_iter().chain(walk.into_iter().flatten())
    }

    /// Returns the sequence numbers of a session's events after `after`, in order, at most `limit`.
    pub(crate) fn stream_seqs(&self, session: Uuid, after: u64, limit: usize) -> Result<Vec<u64>> {
        let trees = self.trees()?;
        let tail = self.tail.read();
        let held = tail.stream(session, after + 1, limit);
        let is_all = tail.first().is_some_and(|first| first <= after + 1);
        drop(tail);
        if is_all {
            return Ok(held);
        }
        // Index entries after it are being written.
        let last = self.last_seq()?;
        if after >= last {
            return Ok(Vec::new());
        }
        let mut seqs = trees.run_seqs(session, after + 1, last, limit)?;
        let range = stream_key(session, after + 1)..=stream_key(session, last);
        let kept = guarded("read a stream", || {
            let keys = trees.streams.range(range).keys().take(limit);
            keys.collect::<RawResult<Vec<_>>>()
        })?;
        for key in kept {
            seqs.push(seq_of(&key)?);
        }
        seqs.extend(held);
        // While events are moved or sealed, some are in two places.
        seqs.sort();
        seqs.dedup();
        seqs.truncate(limit);
        Ok(seqs)
    }

    /// Returns whether an event is among those of a session.
    pub(crate) fn is_in_stream(&self, session: Uuid, seq: u64) -> Result<bool> {
        let trees = self.trees()?;
        if self.tail.read().stream(session, seq, 1).first() == Some(&seq) {
            return Ok(true);
        }
        let is_kept = guarded("read a stream", || {
            trees.streams.contains_key(stream_key(session, seq))
        })?;
        Ok(is_kept || !trees.run_seqs(session, seq, seq, 1)?.is_empty())
    }

    pub(crate) fn unsettled(&self) -> Result<Vec<(Uuid, u64)>> {
        let trees = self.trees()?;
        let keys = guarded("read promises", || {
            trees.unsettled.iter().keys().collect::<RawResult<Vec<_>>>()
        })?;
        let keys = keys.iter();
        keys.map(|key| Ok((session_of(key)?, seq_of(key)?)))
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

    pub(crate) fn size_on_disk(&self) -> u64 {
        let trees = self.trees();
        trees.map_or(0, |trees| trees.db.size_on_disk().unwrap_or(0))
    }

    /// Hands written pages to the system. This is not an fsync and not needed for durability; it shortens the next
    /// recovery.
    pub(crate) fn flush(&self) -> Result<()> {
        let trees = self.trees()?;
        guarded("flush", || trees.db.flush()).map(drop)
    }
}
