//! Walking over all of history, in order. The intake log has the events one after the other, and gives them at a fraction of
//! what the store's pages cost; whatever the log does not give, be it damaged, comes from the store.

use std::sync::Arc;
use std::vec;

use uuid::Uuid;

use super::store_writer::Shared;
use crate::intake::{self, Segment};
use crate::{Envelope, Error, Result, codec};

type Events = Box<dyn Iterator<Item = Result<Envelope>>>;

/// The events `next..=last` of wanted sessions, in order. A gap among all events is an error, and an error ends it.
pub(crate) struct History<W> {
    wanted: W,
    log: LogReader,
    next: u64,
    last: u64,
    /// The number of what the log has next, which may be behind a hole in it, and the event where it is wanted.
    ahead: Option<(u64, Option<Envelope>)>,
    /// The store's events of such a hole.
    hole: Option<Events>,
    shared: Arc<Shared>,
}

impl<W: Fn(Uuid) -> bool> History<W> {
    /// Begins at event `from`; `segments` are those of the log.
    pub(crate) fn new(
        shared: Arc<Shared>,
        segments: Vec<Segment>,
        from: u64,
        last: u64,
        wanted: W,
    ) -> Self {
        let log = LogReader {
            segments: segments.into_iter(),
            bytes: Vec::new(),
            at: 0,
        };
        Self {
            wanted,
            log,
            next: from,
            last,
            ahead: None,
            hole: None,
            shared,
        }
    }

    /// Reads event `next`; none where it is not wanted.
    fn read(&mut self) -> Result<Option<Envelope>> {
        if self.hole.is_none() && self.ahead.is_none() {
            self.ahead = self.log.from(self.next, &self.wanted);
        }
        if let Some((_, envelope)) = self.ahead.take_if(|(seq, _)| *seq == self.next) {
            self.hole = None;
            return Ok(envelope);
        }
        let upto = self.ahead.as_ref().map_or(self.last, |(seq, _)| seq - 1);
        let hole = self
            .hole
            .get_or_insert_with(|| Box::new(self.shared.store.events_between(self.next, upto)));
        match hole.next().transpose()? {
            Some(envelope) if envelope.seq == self.next => {
                Ok(Some(envelope).filter(|envelope| (self.wanted)(envelope.stream.session)))
            }
            _ => Err(Error::damaged(
                "the journal",
                format!("event {} is missing", self.next),
            )),
        }
    }
}

impl<W: Fn(Uuid) -> bool> Iterator for History<W> {
    type Item = Result<Envelope>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next <= self.last {
            let read = self.read();
            self.next = if read.is_ok() {
                self.next + 1
            } else {
                u64::MAX
            };
            if let Some(read) = read.transpose() {
                return Some(read);
            }
        }
        None
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
    /// Returns the number of the next event that there is, `seq` or behind it, and the event where it is wanted.
    fn from(&mut self, seq: u64, wanted: impl Fn(Uuid) -> bool) -> Option<(u64, Option<Envelope>)> {
        loop {
            while let Some((value, end)) = intake::event_value_from(&self.bytes, self.at) {
                self.at = end;
                let Some((found, session)) =
                    codec::address(value).filter(|(found, _)| *found >= seq)
                else {
                    continue;
                };
                if !wanted(session) {
                    return Some((found, None));
                }
                if let Ok(envelope) = codec::decode_event(value) {
                    return Some((found, Some(envelope)));
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
                let (sender, sealed) = std::sync::mpsc::sync_channel(1);
                journal
                    .rotate(Box::new(move || sender.send(()).expect("awaited")))
                    .expect("rotated");
                sealed.recv().expect("sealed");
            }
            journal
                .append_wait((first..first + 4).map(draft).collect())
                .expect("appended");
        }
        journal.settle().expect("settled");
        journal
    }

    fn draft(number: u128) -> Draft {
        let (event, at) = (
            Event::CheckpointCleared {},
            Timestamp::from_micros(1_000_000),
        );
        let stream = Stream {
            session: Uuid::from_u128(number % 3),
            ..Stream::daemon()
        };
        Draft {
            stream,
            at,
            id: Uuid::from_u128(number),
            event,
            payload: None,
        }
    }

    fn segments(folder: &Path) -> Vec<PathBuf> {
        let found = crate::intake::segments(&folder.join("intake")).expect("listed");
        found.into_iter().map(|segment| segment.path).collect()
    }

    fn read(journal: &Journal, from: u64) -> Vec<Result<Envelope>> {
        journal
            .history(from..=u64::MAX, |_| true)
            .expect("readable")
            .collect()
    }

    /// Whatever is asked for comes as the store has it.
    fn assert_whole(journal: &Journal, what: &str) {
        for from in 1..=14 {
            let stored: Vec<_> = journal.events_from(from).collect();
            assert_eq!(stored.len() as u64, 13 - from.min(13));
            assert_eq!(read(journal, from), stored, "{what}, from {from}");
            let some = journal
                .history(from..=7, |_| true)
                .expect("readable")
                .collect::<Vec<_>>();
            assert_eq!(
                some,
                stored[..8 - from.min(8) as usize],
                "{what}, from {from} to 7"
            );
            let odd = |session: Uuid| session.as_u128() % 2 == 1;
            let some = journal
                .history(from..=u64::MAX, odd)
                .expect("readable")
                .collect::<Vec<_>>();
            let wanted = |event: &Result<Envelope>| {
                event
                    .as_ref()
                    .is_ok_and(|envelope| odd(envelope.stream.session))
            };
            assert_eq!(
                some,
                stored.into_iter().filter(wanted).collect::<Vec<_>>(),
                "{what}, some from {from}"
            );
        }
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
        segments(folder.path())
            .iter()
            .for_each(|path| fs::remove_file(path).expect("removed"));
        assert_whole(&journal, "no log");
    }

    #[test]
    fn the_log_is_what_is_read_as_far_as_it_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        for envelope in read(&journal, 1).into_iter().flatten() {
            let address = codec::address(&codec::encode_event(&envelope));
            assert_eq!(address, Some((envelope.seq, envelope.stream.session)));
        }
        journal.store().forget_event(7).expect("removed");
        assert_eq!(read(&journal, 1).iter().flatten().count(), 12);
    }

    #[test]
    fn what_neither_log_nor_store_has_ends_it_with_an_error_whoever_is_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        fs::remove_file(&segments(folder.path())[1]).expect("removed");
        journal.store().forget_event(7).expect("removed");
        let all = read(&journal, 1);
        assert_eq!(
            all.iter()
                .flatten()
                .map(|envelope| envelope.seq)
                .collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6]
        );
        let nobody: Vec<_> = journal
            .history(1..=u64::MAX, |_| false)
            .expect("readable")
            .collect();
        for read in [&all[6..], &nobody] {
            assert_eq!(read.len(), 1, "{read:?}");
            let error = read[0].as_ref().expect_err("missing");
            assert_eq!(
                error.to_string(),
                "the journal is damaged: event 7 is missing"
            );
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
        let read = read(&journal, 8);
        assert!(
            matches!(&read[..], [Ok(event), Err(_)] if event.seq == 8),
            "{read:?}"
        );
    }
}
