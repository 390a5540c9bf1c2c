//! Walking over all of history, in order. The intake log has the events one after the other, and gives them at a fraction of
//! what the store's pages cost; whatever the log does not give, be it damaged, comes from the store.

use std::iter::{Fuse, from_fn};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::vec;

use crate::intake::{Segment, record_from};
use crate::mover::Shared;
use crate::{Envelope, Error, Result};

/// Events of a block that is read ahead.
const BLOCK: usize = 512;
/// Blocks that wait for their reader, so a few thousand decoded events are in memory at most.
const BLOCKS_AHEAD: usize = 4;

type Events = Box<dyn Iterator<Item = Result<Envelope>> + Send>;

/// The events `next..=last` in order, without a gap; an error ends it.
pub(crate) struct History {
    log: LogReader,
    next: u64,
    last: u64,
    /// What the log has next, behind a hole in it.
    behind: Option<Envelope>,
    /// The store's events of such a hole.
    hole: Option<Events>,
    shared: Arc<Shared>,
}

impl History {
    /// Begins at event `from`; `segments` are those of the log.
    pub(crate) fn new(shared: Arc<Shared>, segments: Vec<Segment>, from: u64, last: u64) -> Self {
        let log = LogReader { segments: segments.into_iter(), bytes: Vec::new(), at: 0 };
        Self { log, next: from, last, behind: None, hole: None, shared }
    }

    fn read(&mut self) -> Result<Envelope> {
        if self.hole.is_none() && self.behind.is_none() {
            self.behind = self.log.from(self.next);
        }
        if let Some(envelope) = self.behind.take_if(|behind| behind.seq == self.next) {
            self.hole = None;
            return Ok(envelope);
        }
        let upto = self.behind.as_ref().map_or(self.last, |behind| behind.seq - 1);
        let missing = || Error::damaged("the journal", format!("event {} is missing", self.next));
        let hole = self.hole.get_or_insert_with(|| Box::new(self.shared.store.events_between(self.next, upto)));
        hole.next()
            .unwrap_or_else(|| Err(missing()))
            .and_then(|envelope| if envelope.seq == self.next { Ok(envelope) } else { Err(missing()) })
    }
}

impl Iterator for History {
    type Item = Result<Envelope>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            return None;
        }
        let read = self.read();
        self.next = if read.is_ok() { self.next + 1 } else { u64::MAX };
        Some(read)
    }
}

/// What can be read of the intake log. Of what cannot, nothing is said: the store has it, or says that it has not.
struct LogReader {
    segments: vec::IntoIter<Segment>,
    /// The frames of the segment that is being read. One buffer for all of them: to be given new memory costs more than
    /// to fill it.
    bytes: Vec<u8>,
    at: usize,
}

impl LogReader {
    /// Returns the next event that there is, `seq` or behind it.
    fn from(&mut self, seq: u64) -> Option<Envelope> {
        loop {
            while let Some((record, end)) = record_from(&self.bytes, self.at) {
                self.at = end;
                match record {
                    Ok(record) if record.envelope.seq >= seq => return Some(record.envelope),
                    _ => {}
                }
            }
            let segment = self.segments.next()?;
            let ends_before = |next: &Segment| next.first_seq <= seq;
            if self.segments.as_slice().first().is_some_and(ends_before) {
                continue;
            }
            self.at = 0;
            if segment.read_into(&mut self.bytes).is_err() {
                self.bytes.clear();
            }
        }
    }
}

/// Events that a thread of its own reads and decodes ahead of whoever folds them. Dropping it ends the thread.
pub(crate) struct ReadAhead {
    thread: Option<(Receiver<Vec<Result<Envelope>>>, JoinHandle<()>)>,
    block: vec::IntoIter<Result<Envelope>>,
}

impl ReadAhead {
    pub(crate) fn new(events: impl Iterator<Item = Result<Envelope>> + Send + 'static) -> Self {
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        let thread = std::thread::spawn(move || read_blocks(events.fuse(), &sender));
        Self { thread: Some((blocks, thread)), block: Vec::new().into_iter() }
    }
}

fn read_blocks(mut events: Fuse<impl Iterator<Item = Result<Envelope>>>, to: &SyncSender<Vec<Result<Envelope>>>) {
    let mut blocks =
        from_fn(|| Some(events.by_ref().take(BLOCK).collect::<Vec<_>>()).filter(|block| !block.is_empty()));
    // Nobody reads any more when sending fails.
    let _ = blocks.try_for_each(|block| to.send(block));
}

impl Iterator for ReadAhead {
    type Item = Result<Envelope>;

    fn next(&mut self) -> Option<Self::Item> {
        self.block.next().or_else(|| {
            self.block = self.thread.as_ref()?.0.recv().ok()?.into_iter();
            self.block.next()
        })
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if let Some((blocks, thread)) = self.thread.take() {
            drop(blocks);
            // It only reads; whatever stopped it was told in its place.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use uuid::Uuid;

    use super::*;
    use crate::{Draft, Event, Journal, Options, Stream, Timestamp};

    /// Makes a journal whose log has three segments of four events each, the first two of them sealed.
    fn journal(folder: &Path) -> Journal {
        let (journal, _) = Journal::open(folder, Options::default()).expect("a journal");
        for first in [1, 5, 9] {
            if first > 1 {
                let (sender, sealed) = sync_channel(1);
                journal.rotate(Box::new(move || drop(sender.send(())))).expect("rotated");
                sealed.recv().expect("sealed");
            }
            journal.append_wait((first..first + 4).map(draft).collect()).expect("appended");
        }
        journal.settle().expect("settled");
        journal
    }

    fn draft(number: u128) -> Draft {
        let (event, at) = (Event::CheckpointCleared {}, Timestamp::from_micros(1_000_000));
        Draft { stream: Stream::daemon(), at, id: Uuid::from_u128(number), event, payload: None }
    }

    fn segments(folder: &Path) -> Vec<PathBuf> {
        let found = crate::intake::segments(&folder.join("intake")).expect("listed");
        found.into_iter().map(|segment| segment.path).collect()
    }

    /// Whatever is asked for comes as the store has it, on one core and on two.
    fn assert_whole(journal: &Journal, what: &str) {
        for from in 1..=14 {
            let stored: Vec<_> = journal.events_from(from).collect();
            assert_eq!(stored.len() as u64, 13 - from.min(13));
            assert_eq!(one_core(journal, from).collect::<Vec<_>>(), stored, "{what}, from {from}");
            assert_eq!(ReadAhead::new(one_core(journal, from)).collect::<Vec<_>>(), stored, "{what}, from {from}");
        }
    }

    fn one_core(journal: &Journal, from: u64) -> History {
        journal.walk(from).expect("readable")
    }

    #[test]
    fn history_is_what_the_store_has_whatever_becomes_of_the_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        assert_eq!(segments(folder.path()).len(), 3);
        assert_whole(&journal, "nothing damaged");
        for path in segments(folder.path()) {
            let whole = fs::read(&path).expect("read");
            for at in (0..whole.len()).step_by(7) {
                let mut bytes = whole.clone();
                bytes[at] ^= 0x20;
                fs::write(&path, &bytes).expect("written");
                assert_whole(&journal, &format!("{} flipped at {at}", path.display()));
                fs::write(&path, &whole[..at]).expect("written");
                assert_whole(&journal, &format!("{} cut at {at}", path.display()));
            }
            fs::write(&path, whole).expect("written");
        }
        segments(folder.path()).iter().for_each(|path| fs::remove_file(path).expect("removed"));
        assert_whole(&journal, "no log");
    }

    #[test]
    fn what_neither_log_nor_store_has_ends_it_with_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        fs::remove_file(&segments(folder.path())[1]).expect("removed");
        journal.store().forget_event(7).expect("removed");
        for events in [Box::new(one_core(&journal, 1)) as Events, Box::new(ReadAhead::new(one_core(&journal, 1)))] {
            let read: Vec<_> = events.map(|event| event.map(|envelope| envelope.seq)).collect();
            let (last, before) = read.split_last().expect("some");
            assert_eq!(before, [Ok(1), Ok(2), Ok(3), Ok(4), Ok(5), Ok(6)]);
            assert_eq!(last.as_ref().expect_err("missing").to_string(), "the journal is damaged: event 7 is missing");
        }
    }

    #[test]
    fn an_event_that_the_log_lacks_in_front_of_others_is_not_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        let path = &segments(folder.path())[2];
        let mut bytes = fs::read(path).expect("read");
        bytes[20] ^= 1;
        fs::write(path, bytes).expect("written");
        journal.store().forget_event(9).expect("removed");
        let read: Vec<_> = one_core(&journal, 8).map(|event| event.map(|envelope| envelope.seq)).collect();
        assert_eq!(read.len(), 2, "{read:?}");
        assert!(read[0] == Ok(8) && read[1].is_err(), "{read:?}");
    }

    #[test]
    fn a_reader_may_stop_early() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        let endless = std::iter::repeat_with(move || one_core(&journal, 1)).flatten();
        assert_eq!(ReadAhead::new(endless).take(3 * BLOCK).filter(Result::is_ok).count(), 3 * BLOCK);
    }
}
