//! Counts the entries of the indexes. Each event is in both; more entries than events means that some are of no event.

use uuid::Uuid;

use super::Store;
use super::sealed_index::seqs_of;
use super::trees::{guarded, pairs, seq_of, session_of};
use crate::error::Result;

/// Numbers of entries up to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub(crate) ids: u64,
    pub(crate) streams: u64,
    pub(crate) decisions: u64,
}

impl Store {
    /// Counts the entries up to event `last`. While events are sealed, it may count too few, and never too many.
    pub(crate) fn indexed(&self, last: u64) -> Result<Indexed> {
        Ok(Indexed {
            ids: self.indexed_ids(last)?,
            streams: self.indexed_streams(last)?,
            decisions: self.indexed_decisions(last)?,
        })
    }

    fn indexed_ids(&self, last: u64) -> Result<u64> {
        let trees = self.trees()?;
        let mut ids = self.tail.read().ids().clone();
        ids.extend(trees.ids()?);
        let sealed = self.sealed_ids.read();
        let mut count = sealed.up_to(last);
        for (id, seq) in ids {
            // While events are moved or sealed, some are in two places.
            let is_counted = sealed.candidates(id).any(|other| other == seq);
            count += u64::from(seq <= last && !is_counted);
        }
        Ok(count)
    }

    fn indexed_streams(&self, last: u64) -> Result<u64> {
        let trees = self.trees()?;
        let mut kept = self.tail.read().streams().clone();
        for pair in pairs("read a stream", Ok(trees.streams.iter())) {
            let (key, _) = pair?;
            let seqs = kept.entry(session_of(&key)?).or_default();
            seqs.push(seq_of(&key)?);
        }
        let mut count = 0;
        let mut add = |mut seqs: Vec<u64>| {
            seqs.retain(|seq| *seq <= last);
            seqs.sort_unstable();
            seqs.dedup();
            count += seqs.len() as u64;
        };
        let mut own: Option<(Uuid, Vec<u64>)> = None;
        for pair in pairs("read a stream", Ok(trees.runs.iter())) {
            let (key, value) = pair?;
            let (session, first) = (session_of(&key)?, seq_of(&key)?);
            if let Some((_, seqs)) = own.take_if(|(other, _)| *other != session) {
                add(seqs);
            }
            let (_, seqs) =
                own.get_or_insert_with(|| (session, kept.remove(&session).unwrap_or_default()));
            seqs.extend(seqs_of(first, &value));
        }
        own.into_iter().for_each(|(_, seqs)| add(seqs));
        kept.into_values().for_each(add);
        Ok(count)
    }

    fn indexed_decisions(&self, last: u64) -> Result<u64> {
        let trees = self.trees()?;
        guarded("count decisions", || {
            let mut keys = trees.decisions.range(..=last.to_be_bytes()).keys();
            keys.try_fold(0, |count, key| key.map(|_| count + 1))
        })
    }

    /// Adds an entry to a tree, given by name.
    #[cfg(test)]
    pub(crate) fn plant(&self, tree: &str, key: &[u8], value: &[u8]) -> Result<()> {
        let trees = self.trees()?;
        guarded("plant", || {
            trees.db.open_tree(tree)?.insert(key, value)?;
            trees.db.flush().map(drop)
        })
    }
}
