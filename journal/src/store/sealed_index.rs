//! The index of sealed events: blocks of many events, because each entry of sled takes a hundred bytes and more.
//!
//! A block of the tree `ids_sealed` has 12 bytes for each event: a hash of its id (8) and its distance from the first (4). A
//! run of the tree `runs` has the events of one session: 4 bytes each, the distance from the first. All little-endian.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::trees::{Trees, guarded, pairs, seq_of, session_of, stream_key};
use crate::Envelope;
use crate::error::Result;

/// Events of a block. Large values would become separate files that sled never syncs.
const BLOCK_EVENTS: usize = 1024;
/// Bytes of an event in a block.
const ID_BYTES: usize = 12;
/// Bytes of an event in a run.
const SEQ_BYTES: usize = 4;

/// The hashes of the ids of all sealed events, with their numbers, sorted.
#[derive(Default)]
pub(super) struct SealedIds(Vec<(u64, u64)>);

impl SealedIds {
    pub(super) fn load(trees: &Trees) -> Result<Self> {
        let mut all = Vec::with_capacity(trees.sealed_span()?);
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
        let entries = entries.iter();
        self.0
            .extend(entries.map(|entry| (hash(entry.id), entry.seq)));
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
        let same = self.0[from..]
            .iter()
            .take_while(move |(other, _)| *other == hash);
        same.map(|(_, seq)| *seq)
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

pub(super) fn seqs_of(first: u64, value: &[u8]) -> Vec<u64> {
    let distances = value.as_chunks::<SEQ_BYTES>().0.iter();
    let seqs = distances.map(|distance| first + u64::from(u32::from_le_bytes(*distance)));
    seqs.collect()
}

impl Trees {
    /// Returns a number that is not lower than that of the sealed events.
    fn sealed_span(&self) -> Result<usize> {
        let ends = guarded("read ids", || {
            Ok((self.ids_sealed.first()?, self.ids_sealed.last()?))
        })?;
        let (Some((first, _)), Some((last, _))) = ends else {
            return Ok(0);
        };
        let span = seq_of(&last)?.saturating_sub(seq_of(&first)?);
        Ok(span as usize + BLOCK_EVENTS)
    }

    /// Writes the blocks and runs of sealed events, which are in order.
    pub(super) fn index_sealed(&self, entries: &[Entry]) -> Result<()> {
        for block in entries.chunks(BLOCK_EVENTS) {
            let first = block[0].seq;
            let mut ids = Vec::with_capacity(block.len() * ID_BYTES);
            for entry in block {
                debug_assert!(entry.seq - first <= u64::from(u32::MAX));
                ids.extend_from_slice(&hash(entry.id).to_le_bytes());
                ids.extend_from_slice(&((entry.seq - first) as u32).to_le_bytes());
            }
            guarded("index sealed events", || {
                self.ids_sealed.insert(first.to_be_bytes(), ids).map(drop)
            })?;
        }
        let mut runs: BTreeMap<Uuid, Vec<u64>> = BTreeMap::new();
        for entry in entries {
            runs.entry(entry.session).or_default().push(entry.seq);
        }
        runs.iter().try_for_each(|(session, seqs)| {
            let mut parts = seqs.chunks(BLOCK_EVENTS);
            parts.try_for_each(|part| self.put_run(*session, part))
        })
    }

    /// Copies the runs into an empty store, those of a session one behind the other in as few as may be. Each entry of sled
    /// costs far more than its few numbers. Returns the number of runs before.
    pub(super) fn merge_runs(&self, empty: &Self) -> Result<u64> {
        let mut count = 0;
        let mut merged: Option<(Uuid, Vec<u64>)> = None;
        for pair in pairs("read a stream", Ok(self.runs.iter())) {
            let (key, value) = pair?;
            count += 1;
            let session = session_of(&key)?;
            let seqs = seqs_of(seq_of(&key)?, &value);
            match &mut merged {
                Some((own, all))
                    if *own == session
                        && all.len() + seqs.len() <= BLOCK_EVENTS
                        && all.last() < seqs.first()
                        && seqs
                            .last()
                            .is_some_and(|last| last - all[0] <= u64::from(u32::MAX)) =>
                {
                    all.extend(seqs);
                }
                _ => {
                    if let Some((session, seqs)) = merged.replace((session, seqs)) {
                        empty.put_run(session, &seqs)?;
                    }
                }
            }
        }
        if let Some((session, seqs)) = merged {
            empty.put_run(session, &seqs)?;
        }
        guarded("flush", || empty.db.flush())?;
        Ok(count)
    }

    /// Writes a run of a session. The runs of a session never overlap, because a reader reads only one of those that
    /// begin earlier; so it is merged with its neighbors, which happens once a damaged segment is repaired.
    fn put_run(&self, session: Uuid, seqs: &[u64]) -> Result<()> {
        let (Some(&first), Some(&last)) = (seqs.first(), seqs.last()) else {
            return Ok(());
        };
        let before = guarded("read a stream", || {
            let upto = stream_key(session, 0)..stream_key(session, first);
            self.runs.range(upto).next_back().transpose()
        })?;
        let range = stream_key(session, first)..=stream_key(session, last);
        let within = pairs("read a stream", Ok(self.runs.range(range)));
        let (mut all, mut merged) = (seqs.to_vec(), Vec::new());
        for pair in before.map(Ok).into_iter().chain(within) {
            let (key, value) = pair?;
            let run = seqs_of(seq_of(&key)?, &value);
            if run.last().is_some_and(|end| *end >= first) {
                all.extend(run);
                merged.push(key);
            }
        }
        all.sort_unstable();
        all.dedup();
        let parts: Vec<&[u64]> = all.chunks(BLOCK_EVENTS).collect();
        guarded("index sealed events", || {
            for part in &parts {
                let distance = |seq: &u64| ((seq - part[0]) as u32).to_le_bytes();
                let value: Vec<u8> = part.iter().flat_map(distance).collect();
                self.runs.insert(stream_key(session, part[0]), value)?;
            }
            let is_new = |key: &[u8]| parts.iter().any(|part| stream_key(session, part[0]) == key);
            let mut gone = merged.iter().filter(|key| !is_new(key));
            gone.try_for_each(|key| self.runs.remove(key).map(drop))
        })
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
            let run = seqs_of(seq_of(&key)?, &value);
            seqs.extend(run.into_iter().filter(|seq| (from..=last).contains(seq)));
            if seqs.len() >= limit {
                break;
            }
        }
        Ok(seqs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event that is sealed later than those around it, because its segment was damaged, hides none of them.
    #[test]
    fn runs_of_a_session_never_overlap() {
        let folder = tempfile::tempdir().expect("a folder");
        let trees = Trees::open(folder.path()).expect("a store");
        let session = Uuid::from_u128(7);
        let put = |seqs: &[u64]| trees.put_run(session, seqs).expect("written");
        put(&[10, 20, 60, 80, 100]);
        put(&[120, 130]);
        put(&[50]);
        put(&[110, 125]);
        put(&[5, 20]);
        let all = [5, 10, 20, 50, 60, 80, 100, 110, 120, 125, 130];
        for from in 0..140 {
            let wanted: Vec<u64> = all.into_iter().filter(|seq| *seq >= from).collect();
            let found = trees.run_seqs(session, from, 1_000, usize::MAX);
            assert_eq!(found.expect("read"), wanted, "from {from}");
        }
        put(&(200..4_000).collect::<Vec<u64>>()[..BLOCK_EVENTS]);
        put(&[150, 300, 2_000]);
        let found = trees.run_seqs(session, 1_000, 9_000, usize::MAX);
        assert_eq!(
            found.expect("read"),
            (1_000..1_224).chain([2_000]).collect::<Vec<_>>()
        );
    }
}
