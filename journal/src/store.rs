//! The ordered, indexed store that everything reads. The only file that names sled.
//!
//! sled's flush is no fsync, and a damaged log can panic inside it: an acknowledgement never rests on this store, it
//! can always be rebuilt from the intake log, and every open and write here is guarded against panics.
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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::{Envelope, Event, Stream, Timestamp, Verdict, codec};

/// Page cache. sled takes up to a gigabyte by default; the journal is read in order and needs little.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// Values over a quarter of this would become separate files that sled never syncs.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;

/// What the journal knows of a session without reading its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The session.
    pub stream: Stream,
    /// Its first event.
    pub first_seq: u64,
    /// Its last event.
    pub last_seq: u64,
    /// When its first event happened.
    pub first_at: Timestamp,
    /// When its last hook event happened.
    pub last_at: Timestamp,
    /// How many events it has.
    pub events: u64,
}

/// How the delivery of a decision stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// There was nothing to deliver.
    None = 0,
    /// On its way.
    Pending = 1,
    /// The agent has it.
    Confirmed = 2,
    /// It did not arrive.
    Failed = 3,
    /// Nobody can tell any more.
    Expired = 4,
}

impl Outcome {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }

    const fn of(byte: u8) -> Self {
        match byte {
            1 => Self::Pending,
            2 => Self::Confirmed,
            3 => Self::Failed,
            4 => Self::Expired,
            _ => Self::None,
        }
    }
}

/// An event on its way into the store: the envelope, and its two stored values.
pub(crate) struct Item {
    pub(crate) envelope: Envelope,
    pub(crate) event: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Store {
    db: sled::Db,
    events: sled::Tree,
    payloads: sled::Tree,
    ids: sled::Tree,
    streams: sled::Tree,
    sessions: sled::Tree,
    unsettled: sled::Tree,
    decisions: sled::Tree,
    snapshots: sled::Tree,
    entries: RwLock<HashMap<Uuid, SessionEntry>>,
}

/// Runs what may panic inside sled, and turns that into an error.
fn guarded<T>(doing: &'static str, body: impl FnOnce() -> sled::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::Store { doing, text: error.to_string() }),
        Err(_) => Err(Error::Store { doing, text: "its files are damaged".into() }),
    }
}

fn stream_key(session: Uuid, seq: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(session.as_bytes());
    key[16..].copy_from_slice(&seq.to_be_bytes());
    key
}

fn seq_of(bytes: &[u8]) -> Result<u64> {
    let tail = bytes.last_chunk::<8>().ok_or_else(|| Error::damaged("the store", "a key is too short"))?;
    Ok(u64::from_be_bytes(*tail))
}

impl Store {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let db = guarded("open", || {
            sled::Config::new()
                .path(path)
                .cache_capacity(CACHE_BYTES)
                .segment_size(SEGMENT_BYTES)
                .flush_every_ms(None)
                .open()
        })?;
        let tree = |name: &str| guarded("open a tree", || db.open_tree(name));
        let store = Self {
            events: tree("events")?,
            payloads: tree("payloads")?,
            ids: tree("ids")?,
            streams: tree("streams")?,
            sessions: tree("sessions")?,
            unsettled: tree("unsettled")?,
            decisions: tree("decisions")?,
            snapshots: tree("snapshots")?,
            entries: RwLock::default(),
            db,
        };
        store.load_entries()?;
        Ok(store)
    }

    fn load_entries(&self) -> Result<()> {
        let mut entries = HashMap::new();
        for pair in self.sessions.iter() {
            let (_, value) = guarded("read sessions", || pair)?;
            let entry: SessionEntry =
                serde_json::from_slice(&value).map_err(|error| Error::damaged("the store", error.to_string()))?;
            entries.insert(entry.stream.session, entry);
        }
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = entries;
        Ok(())
    }

    pub(crate) fn last_seq(&self) -> Result<u64> {
        guarded("read the last event", || self.events.last())?.map_or(Ok(0), |(key, _)| seq_of(&key))
    }

    /// Writes events with all their index entries; the events themselves last, so that whatever is readable is indexed.
    ///
    /// One by one: of what one thread writes, sled keeps a prefix through any crash, and a batch would have it write out
    /// its buffers twice for each tree. What a crash cuts short is written once more, and all of it may be.
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
        guarded("write events", || {
            for Item { envelope, payload, .. } in items {
                let seq = envelope.seq.to_be_bytes();
                self.ids.insert(envelope.id.as_bytes(), &seq)?;
                self.streams.insert(stream_key(envelope.stream.session, envelope.seq), &[])?;
                if payload != &[0] {
                    self.payloads.insert(seq, payload.as_slice())?;
                }
                self.settle(envelope)?;
            }
            for entry in touched.values() {
                let value = serde_json::to_vec(entry).expect("an entry holds only plain data");
                self.sessions.insert(entry.stream.session.as_bytes(), value)?;
            }
            items.iter().try_for_each(|item| {
                self.events.insert(item.envelope.seq.to_be_bytes(), item.event.as_slice()).map(drop)
            })
        })?;
        self.entries.write().unwrap_or_else(PoisonError::into_inner).extend(touched);
        Ok(())
    }

    /// Leaves of an event what a kill in the middle of [`Store::put`] would: all but the event itself.
    #[cfg(test)]
    pub(crate) fn forget_event(&self, seq: u64) -> Result<()> {
        guarded("remove an event", || self.events.remove(seq.to_be_bytes()).and_then(|_| self.db.flush())).map(drop)
    }

    /// Keeps the list of promises: what an event opens, a later one settles.
    fn settle(&self, envelope: &Envelope) -> sled::Result<()> {
        let session = envelope.stream.session;
        let open = |seq: u64| self.unsettled.insert(stream_key(session, seq), &[]).map(drop);
        let close = |seq: u64| self.unsettled.remove(stream_key(session, seq)).map(drop);
        let outcome = |seq: u64, outcome: Outcome| self.decisions.insert(seq.to_be_bytes(), &[outcome as u8]).map(drop);
        match &envelope.event {
            // Of a stop that nobody waits for, a crash loses nothing but a checkpoint: the agent has stopped.
            Event::AgentStopped { can_reply: true, .. } | Event::RestartRequested { .. } => open(envelope.seq),
            Event::Decided(decision) => {
                close(decision.trigger)?;
                if decision.verdict == Verdict::Inject {
                    open(envelope.seq)?;
                    outcome(envelope.seq, Outcome::Pending)
                } else {
                    outcome(envelope.seq, Outcome::None)
                }
            }
            Event::RestartClosed { restart, .. } => close(*restart),
            Event::DeliveryConfirmed { decision, .. } => {
                close(*decision)?;
                outcome(*decision, Outcome::Confirmed)
            }
            Event::DeliveryFailed { decision, .. } => {
                close(*decision)?;
                outcome(*decision, Outcome::Failed)
            }
            Event::DeliveryExpired { decision, .. } => {
                close(*decision)?;
                outcome(*decision, Outcome::Expired)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn entry(&self, session: Uuid) -> Option<SessionEntry> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(&session).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<SessionEntry> {
        let mut all: Vec<_> = self.entries.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        all.sort_by_key(|entry| entry.first_seq);
        all
    }

    pub(crate) fn seq_by_id(&self, id: Uuid) -> Result<Option<u64>> {
        guarded("look up an id", || self.ids.get(id.as_bytes()))?.map(|value| seq_of(&value)).transpose()
    }

    pub(crate) fn event(&self, seq: u64) -> Result<Option<Envelope>> {
        self.event_value(seq)?.map(|value| codec::decode_event(&value)).transpose()
    }

    pub(crate) fn event_value(&self, seq: u64) -> Result<Option<sled::IVec>> {
        guarded("read an event", || self.events.get(seq.to_be_bytes()))
    }

    pub(crate) fn payload_value(&self, seq: u64) -> Result<Option<sled::IVec>> {
        guarded("read a payload", || self.payloads.get(seq.to_be_bytes()))
    }

    pub(crate) fn payload(&self, seq: u64) -> Result<Option<String>> {
        match self.payload_value(seq)? {
            Some(value) => codec::decode_payload(&value),
            None => Ok(None),
        }
    }

    /// Walks over all events from `from` on, in order.
    pub(crate) fn events_from(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        let mut pairs = self.events.range(from.to_be_bytes()..);
        std::iter::from_fn(move || {
            let pair = match guarded("read events", || pairs.next().transpose()) {
                Ok(pair) => pair?,
                Err(error) => return Some(Err(error)),
            };
            Some(codec::decode_event(&pair.1))
        })
    }

    /// Returns the sequence numbers of a session's events after `after`, in order, at most `limit`.
    pub(crate) fn stream_seqs(&self, session: Uuid, after: u64, limit: usize) -> Result<Vec<u64>> {
        let range = stream_key(session, after.saturating_add(1))..=stream_key(session, u64::MAX);
        guarded("read a stream", || self.streams.range(range).keys().take(limit).collect::<sled::Result<Vec<_>>>())?
            .iter()
            .map(|key| seq_of(key))
            .collect()
    }

    pub(crate) fn unsettled(&self) -> Result<Vec<(Uuid, u64)>> {
        let keys = guarded("read promises", || self.unsettled.iter().keys().collect::<sled::Result<Vec<_>>>())?;
        keys.iter()
            .map(|key| {
                let session =
                    key.first_chunk::<16>().ok_or_else(|| Error::damaged("the store", "a key is too short"))?;
                Ok((Uuid::from_bytes(*session), seq_of(key)?))
            })
            .collect()
    }

    /// Returns decisions and how their deliveries stand, newest first, before `before`.
    pub(crate) fn decisions_before(&self, before: u64) -> impl Iterator<Item = Result<(u64, Outcome)>> + use<> {
        let mut pairs = self.decisions.range(..before.to_be_bytes()).rev();
        std::iter::from_fn(move || {
            let pair = match guarded("read decisions", || pairs.next().transpose()) {
                Ok(pair) => pair?,
                Err(error) => return Some(Err(error)),
            };
            Some(seq_of(&pair.0).map(|seq| (seq, Outcome::of(pair.1.first().copied().unwrap_or(0)))))
        })
    }

    pub(crate) fn outcome(&self, decision: u64) -> Result<Option<Outcome>> {
        let value = guarded("read a decision", || self.decisions.get(decision.to_be_bytes()))?;
        Ok(value.map(|value| Outcome::of(value.first().copied().unwrap_or(0))))
    }

    pub(crate) fn snapshot(&self, session: Uuid) -> Result<Option<(u64, Vec<u8>)>> {
        let Some(value) = guarded("read a snapshot", || self.snapshots.get(session.as_bytes()))? else {
            return Ok(None);
        };
        let Some((seq, bytes)) = value.split_first_chunk::<8>() else { return Ok(None) };
        Ok(Some((u64::from_be_bytes(*seq), bytes.to_vec())))
    }

    pub(crate) fn put_snapshot(&self, session: Uuid, seq: u64, bytes: &[u8]) -> Result<()> {
        let value = [&seq.to_be_bytes(), bytes].concat();
        guarded("write a snapshot", || self.snapshots.insert(session.as_bytes(), value)).map(drop)
    }

    pub(crate) fn clear_snapshots(&self) -> Result<()> {
        guarded("drop snapshots", || self.snapshots.clear())
    }

    /// Counts the events and their index entries, for `verify`.
    pub(crate) fn counts(&self) -> Result<[(&'static str, u64); 3]> {
        let count = |tree: &sled::Tree| guarded("count", || Ok(tree.len() as u64));
        Ok([("events", count(&self.events)?), ("ids", count(&self.ids)?), ("streams", count(&self.streams)?)])
    }

    pub(crate) fn size_on_disk(&self) -> u64 {
        self.db.size_on_disk().unwrap_or(0)
    }

    /// Hands written pages to the system. Not an fsync, and not needed for durability: it shortens the next recovery.
    pub(crate) fn flush(&self) -> Result<()> {
        guarded("flush", || self.db.flush()).map(drop)
    }
}

impl SessionEntry {
    fn new(envelope: &Envelope) -> Self {
        Self {
            stream: envelope.stream.clone(),
            first_seq: envelope.seq,
            last_seq: envelope.seq,
            first_at: envelope.at,
            last_at: envelope.at,
            events: 1,
        }
    }

    fn with(mut self, envelope: &Envelope) -> Self {
        // Recovery may write an event again that is already here: counting it twice would be wrong for ever.
        if envelope.seq > self.last_seq {
            self.last_seq = envelope.seq;
            self.events += 1;
        }
        if envelope.event.host().is_some() {
            self.last_at = self.last_at.max(envelope.at);
        }
        self
    }
}
