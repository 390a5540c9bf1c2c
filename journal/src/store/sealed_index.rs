//! The index of sealed events: blocks of many events, because each entry of sled takes a hundred bytes and more.
//!
//! A block of the tree `ids_sealed` has 12 bytes for each event: a hash of its id (8) and its distance from the first (4). A
//! run of the tree `runs` has the events of one session: 4 bytes each, the distance from the first. All little-endian.

use std::collections::HashMap;

use uuid::Uuid;

use super::trees::{Trees, guarded, pairs, seq_of, stream_key};
use crate::Envelope;
use crate::error::Result;

/// Events of a block. Large values would become separate files that sled never syncs.
const BLOCK_EVENTS: usize = 1024;
/// Bytes of an event in a block.
const ID_BYTES: usize = 12;
/// Bytes of an event in a run.
pub(super) const SEQ_BYTES: usize = 4;

/// The hashes of the ids of all sealed events, with their numbers, sorted.
#[derive(Default)]
pub(super) struct SealedIds(Vec<(u64, u64)>);

impl SealedIds {
    pub(super) fn load(trees: &Trees) -> Result<Self> {
        let mut all = Vec::new();
        for pair in pairs("read ids", Ok(trees.ids_sealed.iter())) {
            let (key, value) = pair?;
            let first = seq_of(&key)?;
            let entries = value.as_chunks::<ID_BYTES>().0.iter();
            all.extend(entries.map(|[a, b, c, d, e, f, g, h, distance @ ..]| {
                let hash = u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
                (hash, first + u64::from(u32::from_le_bytes(*distance)))
            }));
        }
        all.sort_unstable();
        all.dedup();
        Ok(Self(all))
    }

    pub(super) fn add(&mut self, entries: &[Entry]) {
        self.0
            .extend(entries.iter().map(|entry| (hash(entry.id), entry.seq)));
        // Merges two sorted parts in one pass.
        self.0.sort();
        self.0.dedup();
    }

    /// Returns the number of entries up to event `last`.
    pub(super) fn up_to(&self, last: u64) -> u64 {
        self.0.iter().filter(|(_, seq)| *seq <= last).count() as u64
    }

    /// Returns the events whose id may be this one; mostly none or one.
    pub(super) fn candidates(&self, id: Uuid) -> impl Iterator<Item = u64> {
        let hash = hash(id);
        let from = self.0.partition_point(|(other, _)| *other < hash);
        self.0[from..]
            .iter()
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, seq)| *seq)
    }
}

/// Ids are random or hashes already, but some bits of each half are not.
fn hash(id: Uuid) -> u64 {
    let (high, low) = id.as_u64_pair();
    high ^ low
}

/// What the index holds about a sealed event.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) id: Uuid,
    pub(super) session: Uuid,
}

impl From<&Envelope> for Entry {
    fn from(envelope: &Envelope) -> Self {
        Self {
            seq: envelope.seq,
            id: envelope.id,
            session: envelope.stream.session,
        }
    }
}

impl Trees {
    /// Writes the blocks and runs of sealed events, which are in order.
    pub(super) fn index_sealed(&self, entries: &[Entry]) -> Result<()> {
        for block in entries.chunks(BLOCK_EVENTS) {
            let (Some(first), Some(last)) = (block.first(), block.last()) else {
                return Ok(());
            };
            debug_assert!(last.seq - first.seq <= u64::from(u32::MAX));
            let distance = |seq: u64| ((seq - first.seq) as u32).to_le_bytes();
            let mut ids = Vec::with_capacity(block.len() * ID_BYTES);
            let mut runs: HashMap<Uuid, Vec<u64>> = HashMap::new();
            for entry in block {
                ids.extend_from_slice(&hash(entry.id).to_le_bytes());
                ids.extend_from_slice(&distance(entry.seq));
                runs.entry(entry.session).or_default().push(entry.seq);
            }
            guarded("index sealed events", || {
                self.ids_sealed.insert(first.seq.to_be_bytes(), ids)?;
                for (session, seqs) in runs {
                    let value: Vec<u8> = seqs
                        .iter()
                        .flat_map(|seq| ((seq - seqs[0]) as u32).to_le_bytes())
                        .collect();
                    self.runs.insert(stream_key(session, seqs[0]), value)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns a session's sealed events from `from` to `last`, in order, at most about `limit`.
    pub(super) fn run_seqs(
        &self,
        session: Uuid,
        from: u64,
        last: u64,
        limit: usize,
    ) -> Result<Vec<u64>> {
        let before = guarded("read a stream", || {
            let upto = stream_key(session, 0)..stream_key(session, from);
            self.runs.range(upto).next_back().transpose()
        })?;
        let range = stream_key(session, from)..=stream_key(session, last);
        let behind = pairs("read a stream", Ok(self.runs.range(range)));
        let mut seqs = Vec::new();
        for pair in before.map(Ok).into_iter().chain(behind) {
            let (key, value) = pair?;
            let first = seq_of(&key)?;
            let distances = value.as_chunks::<SEQ_BYTES>().0.iter();
            seqs.extend(
                distances
                    .map(|distance| first + u64::from(u32::from_le_bytes(*distance)))
                    .filter(|seq| (from..=last).contains(seq)),
            );
            if seqs.len() >= limit {
                break;
            }
        }
        Ok(seqs)
    }
}
