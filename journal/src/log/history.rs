//! Iterates over all events in order. Reading them from the intake log, where they lie one after the other, costs a
//! fraction of reading the store's pages; events that are missing or damaged in the log come from the store.

use std::sync::Arc;
use std::vec;

use uuid::Uuid;

use super::shared::Shared;
use crate::intake::{self, Segment};
use crate::{Envelope, Error, Result, codec};

type Events = Box<dyn Iterator<Item = Result<Envelope>>>;

/// Iterates over the events `next..=last` of wanted sessions, in order. A missing event is an error; an error ends it.
pub(crate) struct History<W> {
    wanted: W,
    log: LogReader,
    next: u64,
    last: u64,
    /// The sequence number of the log's next event, which may follow a hole, and the event if it is wanted.
    ahead: Option<(u64, Option<Envelope>)>,
    /// The store's events for such a hole.
    hole: Option<Events>,
    shared: Arc<Shared>,
}

impl<W: Fn(Uuid) -> bool> History<W> {
    /// Starts at event `from`; `segments` are all segments of the log.
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

    /// Reads event `next`; `None` if it is not wanted.
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
            _ => Err(Error::missing("the journal", self.next)),
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

/// Reads the intake log and skips damage silently: the store has those events, or reports that they are missing.
struct LogReader {
    segments: vec::IntoIter<Segment>,
    /// The frames of the current segment. One buffer for all segments, because allocating it costs more than filling it.
    bytes: Vec<u8>,
    at: usize,
}

impl LogReader {
    /// Returns the sequence number of the next event at `seq` or later, and the event if it is wanted.
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

    /// Creates a journal whose log has three segments of four events each, the first two sealed.
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
        let stream = Stream {
            session: Uuid::from_u128(number % 3),
            ..Stream::daemon()
        };
        Draft {
            stream,
            at: Timestamp::from_micros(1_000_000),
            id: Uuid::from_u128(number),
            event: Event::CheckpointCleared {},
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

    /// Every range and selection of sessions gives the same events as the store.
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

    /// Does each harm to a file, and calls `check` with its description; then puts the file back.
    fn harm(path: &Path, mut check: impl FnMut(&str)) {
        let whole = fs::read(path).expect("read");
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            fs::write(path, &bytes).expect("written");
            check(&format!("{} flipped at {at}", path.display()));
            fs::write(path, &whole[..at]).expect("written");
            check(&format!("{} cut at {at}", path.display()));
        }
        fs::write(path, whole).expect("written");
    }

    #[test]
    fn events_that_are_not_sealed_come_from_the_store_if_the_log_is_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        assert_eq!(segments(folder.path()).len(), 3);
        assert_whole(&journal, "nothing damaged");
        let open = &segments(folder.path())[2];
        harm(open, |what| assert_whole(&journal, what));
        fs::remove_file(open).expect("removed");
        assert_whole(&journal, "no open segment");
    }

    #[test]
    fn damage_to_a_sealed_segment_is_repaired_or_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        let whole = read(&journal, 1);
        let mut told = 0;
        for path in &segments(folder.path())[..2] {
            let bytes = fs::read(path).expect("read");
            harm(path, |what| {
                journal.store().log_changed();
                for found in [read(&journal, 1), journal.events_from(1).collect()] {
                    if found != whole {
                        assert!(what.contains("cut"), "{what} is not repaired: {found:?}");
                        let (error, before) = found.split_last().expect("an error");
                        assert!(error.is_err(), "{what}: {error:?}");
                        assert_eq!(before, &whole[..before.len()], "{what}");
                    }
                }
                let verified = journal.verify(|_, _| {}).expect("readable");
                assert_eq!(
                    verified.ok,
                    read(&journal, 1) == whole,
                    "{what}: {verified:?}"
                );
                assert_eq!(
                    verified.ok,
                    fs::read(path).expect("read") == bytes,
                    "{what}"
                );
                told += usize::from(!verified.ok);
            });
        }
        assert!(told > 10 && !journal.repaired().is_empty(), "{told}");
        journal.store().log_changed();
        assert_whole(&journal, "repaired");
    }

    #[test]
    fn events_are_read_from_the_log_while_it_has_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        for envelope in read(&journal, 1).into_iter().flatten() {
            let address = codec::address(&codec::encode_event(&envelope));
            assert_eq!(address, Some((envelope.seq, envelope.stream.session)));
        }
        journal.store().forget_event(10).expect("removed");
        assert_eq!(read(&journal, 1).iter().flatten().count(), 12);
    }

    #[test]
    fn an_event_missing_in_log_and_store_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal(folder.path());
        fs::remove_file(&segments(folder.path())[1]).expect("removed");
        journal.store().log_changed();
        let all = read(&journal, 1);
        assert_eq!(
            all.iter()
                .flatten()
                .map(|envelope| envelope.seq)
                .collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        let unwanted: Vec<_> = journal
            .history(1..=u64::MAX, |_| false)
            .expect("readable")
            .collect();
        for read in [&all[4..], &unwanted] {
            assert_eq!(read.len(), 1, "{read:?}");
            let error = read[0].as_ref().expect_err("missing");
            assert_eq!(
                error.to_string(),
                "the journal is damaged: event 5 is missing"
            );
        }
    }

    #[test]
    fn an_event_missing_at_the_start_of_a_segment_is_not_skipped() {
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
