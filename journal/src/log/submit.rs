//! How appends are committed: by the thread that makes them, or by the committer's.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{TrySendError, sync_channel};

use super::append::{Ack, Append, Appending, Command, Done, Imported};
use super::{Journal, QUEUE_MAX};
use crate::Draft;
use crate::error::{Error, Result};

impl Journal {
    /// Appends drafts in order, each on its own, but hands them over together. Errors that [`Journal::append`] would return
    /// go to `done` too.
    pub fn append_each(&self, appends: Vec<(Draft, Done)>) {
        let refused = self.refuse_collector().err();
        let appends = appends.into_iter().map(|(draft, done)| Append {
            drafts: self.cleaned(vec![draft]),
            imported: Vec::new(),
            ack: Ack::Usual,
            done,
        });
        let handed = match refused {
            None => self.hand_over(appends.collect()),
            Some(error) => Err((appends.collect(), error)),
        };
        if let Err((appends, error)) = handed {
            let refused = appends.into_iter();
            refused.for_each(|append| (append.done)(Err(error.clone())));
        }
    }

    /// Has every draft pass `cleaner` before it is appended from now on, in place of the one before. Imported events pass
    /// none.
    pub fn clean_with(
        &self,
        cleaner: impl Fn(Draft) -> Draft + Send + std::marker::Sync + 'static,
    ) {
        *self.inner.cleaner.write() = Some(Box::new(cleaner));
    }

    pub(super) fn cleaned(&self, drafts: Vec<Draft>) -> Vec<Draft> {
        match &*self.inner.cleaner.read() {
            Some(cleaner) => drafts.into_iter().map(cleaner).collect(),
            None => drafts,
        }
    }

    pub(super) fn try_append(&self, drafts: Vec<Draft>, ack: Ack, done: Done) -> Result<()> {
        let append = Append {
            drafts,
            imported: Vec::new(),
            ack,
            done,
        };
        self.hand_over(vec![append]).map_err(|(_, error)| error)
    }

    /// Commits appends, or hands them over to the committer's thread, all or none.
    fn hand_over(&self, appends: Vec<Append>) -> std::result::Result<(), (Vec<Append>, Error)> {
        let Err(appends) = self.commit_here(appends) else {
            return Ok(());
        };
        let (count, queued) = (appends.len(), &self.inner.shared.queued);
        if queued.fetch_add(count, Ordering::AcqRel) + count > QUEUE_MAX {
            queued.fetch_sub(count, Ordering::AcqRel);
            return Err((appends, Error::Overloaded));
        }
        let (command, error) = match self.inner.queue.try_send(Command::Append(appends)) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(command)) => (command, Error::Overloaded),
            Err(TrySendError::Disconnected(command)) => (command, Error::Closed),
        };
        queued.fetch_sub(count, Ordering::AcqRel);
        match command {
            Command::Append(appends) => Err((appends, error)),
            Command::Rotate(_) | Command::Look | Command::Stop => Err((Vec::new(), error)),
        }
    }

    /// Commits appends on this thread, unless that would wait for something: waking another thread and being woken by it
    /// costs several times what the write does. Gives back the appends otherwise.
    fn commit_here(&self, appends: Vec<Append>) -> std::result::Result<(), Vec<Append>> {
        let Ok(mut committer) = self.inner.committer.try_lock() else {
            return Err(appends);
        };
        // What is in the queue comes first. What this thread has put there counts until it is committed.
        let is_first = self.inner.shared.queued.load(Ordering::Acquire) == 0;
        let must_look = match &mut *committer {
            Some(committer) if is_first && committer.is_free(&appends) => {
                committer.commit_free(appends)
            }
            _ => return Err(appends),
        };
        drop(committer);
        if must_look {
            // If the queue is full, the thread is awake.
            let _ = self.inner.queue.try_send(Command::Look);
        }
        Ok(())
    }

    pub(super) fn submit(&self, drafts: Vec<Draft>, imported: Vec<Imported>) -> Result<Appending> {
        let (sender, receiver) = sync_channel(1);
        let done: Done = Box::new(move |result| {
            let _ = sender.send(result);
        });
        let append = Append {
            drafts,
            imported,
            ack: Ack::Usual,
            done,
        };
        let queued = &self.inner.shared.queued;
        queued.fetch_add(1, Ordering::AcqRel);
        let sent = self.inner.queue.send(Command::Append(vec![append]));
        sent.map_err(|_| {
            queued.fetch_sub(1, Ordering::AcqRel);
            Error::Closed
        })?;
        Ok(Appending(receiver))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use uuid::Uuid;

    use crate::error::Error;
    use crate::{Agent, Draft, Event, Host, Journal, Options, Stream, Timestamp};

    /// An event that is acknowledged once it is written if its number is even, and else once it is synced.
    fn draft(number: u64) -> Draft {
        let host = Host::default();
        Draft {
            stream: Stream::of_native(Agent::Claude, "session"),
            at: Timestamp::from_micros(1_000_000),
            id: Uuid::from_u64_pair(1, number),
            event: match number % 2 {
                0 => Event::OtherHook { host },
                _ => Event::CheckpointCleared {},
            },
            payload: None,
        }
    }

    #[test]
    fn the_caller_commits_what_waits_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        let (sender, committed_by) = channel();
        let append = |number| {
            let sender = sender.clone();
            let done = move |result: crate::Result<_>| {
                result.expect("appended");
                sender.send(thread::current().id()).expect("awaited");
            };
            journal
                .append(vec![draft(number)], done)
                .expect("handed over");
            committed_by.recv().expect("committed")
        };
        assert_ne!(append(1), thread::current().id(), "it waits for a sync");
        // The committer's thread holds the lock for a moment longer than it takes to report a commit.
        let is_here = |number: u64| {
            thread::sleep(Duration::from_millis(10));
            append(2 * number) == thread::current().id()
        };
        assert!((1..100).any(is_here));
        journal.close();
        let late = journal.append(vec![draft(2)], |_| panic!("it is refused"));
        assert_eq!(late, Err(Error::Closed));
    }

    #[test]
    fn what_the_caller_commits_is_synced_after_the_batch_window() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options {
            batch_window: Duration::from_secs(1),
            ..Options::default()
        };
        let (journal, _) = Journal::open(folder.path(), options).expect("a journal");
        let is_unsynced = || {
            let committer = journal.inner.committer.lock().expect("no panic");
            committer.as_ref().expect("it is open").dirty.is_some()
        };
        // Then the committer's thread waits for commands, or for a minute without any.
        thread::sleep(Duration::from_millis(50));
        let (sender, committed) = channel();
        let done = move |result| sender.send(result).expect("awaited");
        journal.append(vec![draft(2)], done).expect("handed over");
        committed.recv().expect("committed").expect("appended");
        assert!(is_unsynced(), "its window has just begun");
        let mut looks = (0..1_000).map(|_| thread::sleep(Duration::from_millis(10)));
        assert!(looks.any(|()| !is_unsynced()), "nobody syncs it");
    }

    #[test]
    fn events_are_numbered_in_the_order_in_which_each_thread_appends_them() {
        const EACH: u64 = 300;
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        let append_all = |from: u64| {
            let (sender, numbers) = channel();
            for number in from..from + EACH {
                let sender = sender.clone();
                let done = move |result: crate::Result<Vec<super::super::Appended>>| {
                    let seq = result.expect("appended")[0].seq;
                    sender.send((number, seq)).expect("awaited");
                };
                // Two of three are committed here, if nothing is in the queue; what follows a stop must not overtake it.
                let draft = draft(number * 2 + u64::from(number % 3 == 0));
                while journal.append(vec![draft.clone()], done.clone()).is_err() {
                    thread::yield_now();
                }
            }
            drop(sender);
            let mut numbers: Vec<(u64, u64)> = numbers.iter().collect();
            numbers.sort();
            assert_eq!(numbers.len() as u64, EACH);
            assert!(numbers.is_sorted_by_key(|(_, seq)| *seq), "{numbers:?}");
        };
        thread::scope(|scope| {
            for number in 0..4 {
                let append_all = &append_all;
                scope.spawn(move || append_all(number * 1_000));
            }
        });
        assert_eq!(journal.last_seq(), 4 * EACH);
        drop(journal);
        let (journal, recovered) =
            Journal::open(folder.path(), Options::default()).expect("a journal");
        assert_eq!(recovered.last_seq, 4 * EACH);
        let events = journal.history(1..=u64::MAX, |_| true).expect("history");
        assert_eq!(events.filter(Result::is_ok).count() as u64, 4 * EACH);
    }
}
