//! Reading history on all cores: blocks of events are read and decoded ahead of whoever folds them, in order.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::vec;

use crate::{Envelope, Result};

/// Events of a block. Blocks are read in turns, so a few thousand decoded events are in memory at most.
const BLOCK: u64 = 512;
/// Blocks that wait for their reader at each thread.
const BLOCKS_AHEAD: usize = 2;
/// More threads than this would wait for the one that folds.
const THREADS_MAX: usize = 4;

type Block = Result<Vec<Envelope>>;

/// Events in order, read ahead by threads of their own. Dropping it ends them.
pub(crate) struct ReadAhead {
    threads: Vec<(Receiver<Block>, JoinHandle<()>)>,
    turn: usize,
    block: vec::IntoIter<Envelope>,
    over: bool,
}

impl ReadAhead {
    /// Reads the events `from..=last` on so many cores; `read` returns those of a range `first..end`.
    pub(crate) fn new(
        cores: usize,
        from: u64,
        last: u64,
        read: impl Fn(u64, u64) -> Block + Send + Sync + 'static,
    ) -> Self {
        let (read, count) = (Arc::new(read), cores.clamp(1, THREADS_MAX));
        let spawn = |own: usize| {
            let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
            let read = Arc::clone(&read);
            let thread = std::thread::spawn(move || {
                let mine = (from..=last).step_by(BLOCK as usize).skip(own).step_by(count);
                read_blocks(mine, last, &*read, &sender);
            });
            (blocks, thread)
        };
        Self { threads: (0..count).map(spawn).collect(), turn: 0, block: Vec::new().into_iter(), over: false }
    }
}

fn read_blocks(
    starts: impl Iterator<Item = u64>,
    last: u64,
    read: &(dyn Fn(u64, u64) -> Block + Send + Sync),
    to: &SyncSender<Block>,
) {
    for first in starts {
        // Nobody reads any more when sending fails.
        if to.send(read(first, (first + BLOCK).min(last + 1))).is_err() {
            return;
        }
    }
}

impl Iterator for ReadAhead {
    type Item = Result<Envelope>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(envelope) = self.block.next() {
                return Some(Ok(envelope));
            }
            if self.over {
                return None;
            }
            let turn = self.turn % self.threads.len();
            self.turn += 1;
            match self.threads[turn].0.recv() {
                Ok(Ok(block)) => self.block = block.into_iter(),
                Ok(Err(error)) => {
                    self.over = true;
                    return Some(Err(error));
                }
                // Blocks go round, so the first thread that has none left had the last but what was returned.
                Err(_) => self.over = true,
            }
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        let (blocks, threads): (Vec<_>, Vec<_>) = std::mem::take(&mut self.threads).into_iter().unzip();
        drop(blocks);
        for thread in threads {
            // It only reads; whatever stopped it was told in its place.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Event, Stream, Timestamp};

    fn envelope(seq: u64) -> Envelope {
        let event = Event::CheckpointCleared {};
        let at = Timestamp::default();
        Envelope { seq, stream: Stream::daemon(), at, recorded_at: at, id: uuid::Uuid::nil(), late: false, event }
    }

    fn seqs(from: u64, last: u64) -> Vec<u64> {
        let all = ReadAhead::new(3, from, last, |first, end| Ok((first..end).map(envelope).collect()));
        all.map(|envelope| envelope.expect("no error").seq).collect()
    }

    #[test]
    fn every_event_comes_once_and_in_order() {
        for last in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 7 * BLOCK + 3] {
            assert_eq!(seqs(1, last), (1..=last).collect::<Vec<_>>());
        }
        assert_eq!(seqs(BLOCK, 3 * BLOCK), (BLOCK..=3 * BLOCK).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_it_in_its_place_and_a_reader_may_stop_early() {
        let failing = |first: u64, end: u64| {
            if first > BLOCK { Err(Error::Closed) } else { Ok((first..end).map(envelope).collect()) }
        };
        let mut all = ReadAhead::new(3, 1, 100 * BLOCK, failing);
        assert!(all.by_ref().take(BLOCK as usize).all(|envelope| envelope.is_ok()));
        assert!(matches!(all.next(), Some(Err(Error::Closed))));
        assert!(all.next().is_none());
        let endless = ReadAhead::new(3, 1, u64::MAX - BLOCK, |first, end| Ok((first..end).map(envelope).collect()));
        assert_eq!(endless.take(3).count(), 3);
    }
}
