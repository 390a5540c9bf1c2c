//! The journal: one writer thread that orders, dedupes and makes durable (another syncs what may be synced later); one
//! thread that moves what is durable into the store; and everybody else, who reads.
//!
//! The order of things: frames are written to the intake log, synced by group commit, acknowledged, and then stored.
//! Readers that need what was just acknowledged call [`Journal::settle`] first.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use uuid::Uuid;

use crate::error::{Doing, Error, Result};
use crate::recovery::{self, Recovered};
use crate::store::Store;
use crate::{Draft, Envelope, Payload, Timestamp, intake, layout};

mod committer;
mod history;
mod read;
mod store_writer;

use committer::{Committer, sync_batches};
use history::History;
use store_writer::{Shared, move_to_store};

/// Appends that may wait for the writer; one more is refused with [`Error::Overloaded`].
const QUEUE_MAX: usize = 1024;
/// Appends that are committed together at most.
const GROUP_MAX: usize = 512;
/// Committed groups that may wait for the store; one more makes the writer wait.
const STORE_QUEUE_MAX: usize = 1024;

/// When an append is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Tool and model events once written, all others once synced (spec JRNL-5).
    Mixed,
    /// Everything once synced.
    Always,
}

/// How a journal is kept.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// When an append is acknowledged.
    pub sync: Sync,
    /// The longest time an acknowledged event may be unsynced with [`Sync::Mixed`].
    pub batch_window: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync: Sync::Mixed,
            batch_window: Duration::from_millis(50),
        }
    }
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The event's place.
    pub seq: u64,
    /// It was there already under the same id, and nothing was written.
    pub duplicate: bool,
}

type Done = Box<dyn FnOnce(Result<Vec<Appended>>) + Send>;

/// What an importer knows of an event that was recorded before.
struct Imported {
    recorded_at: Timestamp,
    late: bool,
    payload_dropped: bool,
}

/// An append: drafts that stand together.
struct Append {
    drafts: Vec<Draft>,
    imported: Option<Imported>,
    /// The acknowledgement waits for the disk whatever the events are.
    durable: bool,
    done: Done,
}

enum Command {
    Append(Append),
    Rotate(Box<dyn FnOnce() + Send>),
    Stop,
}

/// A handle to the journal. Cheap to clone; the journal closes when [`Journal::close`] is called or the last is dropped.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    queue: SyncSender<Command>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    upkeep: Mutex<()>,
    _lock: std::fs::File,
}

impl Journal {
    /// Opens the journal in `dir`, creating it where there is none, and brings the store up to date with the intake log.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] while another process has it; [`Error::Newer`] for a journal of a newer program;
    /// [`Error::Damaged`] where neither the intake log nor the store has an event that must be there.
    pub fn open(dir: &Path, options: Options) -> Result<(Self, Recovered)> {
        let lock = recovery::lock(dir)?;
        let (store, writer, recovered) = recovery::recover(dir, &lock)?;
        let next_seq = recovered.last_seq + 1;
        let shared = Arc::new(Shared::new(store, recovered.last_seq));
        let (queue, commands) = sync_channel(QUEUE_MAX);
        let (to_store, batches) = sync_channel(STORE_QUEUE_MAX);
        let last_at = shared
            .store
            .entries()
            .into_iter()
            .map(|entry| (entry.stream.session, entry.last_at))
            .collect();
        let (to_sync, files) = sync_channel(1);
        let committer = Committer {
            shared: Arc::clone(&shared),
            options,
            writer,
            next_seq,
            last_at,
            to_store,
            dirty: None,
            to_sync,
            tried: None,
        };
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new()
                .name(name.into())
                .spawn(body)
                .doing("start a thread for", dir)
        };
        let (mover, folder) = (Arc::clone(&shared), dir.to_owned());
        let threads = vec![
            spawn("journal-commit", Box::new(move || committer.run(&commands)))?,
            spawn(
                "journal-store",
                Box::new(move || move_to_store(&mover, &folder, &batches)),
            )?,
            spawn("journal-sync", Box::new(move || sync_batches(&files)))?,
        ];
        let inner = Inner {
            dir: dir.to_owned(),
            queue,
            shared,
            threads: Mutex::new(threads),
            upkeep: Mutex::default(),
            _lock: lock,
        };
        Ok((
            Self {
                inner: Arc::new(inner),
            },
            recovered,
        ))
    }

    /// Appends drafts that belong together, in order, and calls `done` once they are acknowledged. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] when too many appends wait, [`Error::Closed`] after [`Journal::close`]; `done` gets all else.
    pub fn append(
        &self,
        drafts: Vec<Draft>,
        done: impl FnOnce(Result<Vec<Appended>>) + Send + 'static,
    ) -> Result<()> {
        let append = Append {
            drafts,
            imported: None,
            durable: false,
            done: Box::new(done),
        };
        self.inner
            .queue
            .try_send(Command::Append(append))
            .map_err(|error| match error {
                TrySendError::Full(_) => Error::Overloaded,
                TrySendError::Disconnected(_) => Error::Closed,
            })
    }

    /// Calls `done` once everything acknowledged so far is on the disk.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub fn sync(&self, done: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        let done: Done = Box::new(move |result| done(result.map(drop)));
        let append = Append {
            drafts: Vec::new(),
            imported: None,
            durable: true,
            done,
        };
        self.inner
            .queue
            .try_send(Command::Append(append))
            .map_err(|error| match error {
                TrySendError::Full(_) => Error::Overloaded,
                TrySendError::Disconnected(_) => Error::Closed,
            })
    }

    /// Appends and waits for the acknowledgement. For callers on threads of their own.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`], but waits where that is refused as overloaded.
    pub fn append_wait(&self, drafts: Vec<Draft>) -> Result<Vec<Appended>> {
        self.submit(drafts, None)
    }

    /// Appends an exported event with the recording time it had.
    ///
    /// # Errors
    ///
    /// As [`Journal::append_wait`].
    pub fn import(&self, envelope: Envelope, payload: Payload) -> Result<Appended> {
        let Envelope {
            stream,
            at,
            recorded_at,
            id,
            late,
            event,
            ..
        } = envelope;
        let imported = Imported {
            recorded_at,
            late,
            payload_dropped: payload == Payload::Dropped,
        };
        let draft = Draft {
            stream,
            at,
            id,
            event,
            payload: payload.into_text(),
        };
        let appended = self.submit(vec![draft], Some(imported))?;
        appended.first().copied().ok_or(Error::Closed)
    }

    fn submit(&self, drafts: Vec<Draft>, imported: Option<Imported>) -> Result<Vec<Appended>> {
        let (sender, receiver) = sync_channel(1);
        let done: Done = Box::new(move |result| {
            let _ = sender.send(result);
        });
        let append = Append {
            drafts,
            imported,
            durable: false,
            done,
        };
        self.inner
            .queue
            .send(Command::Append(append))
            .map_err(|_| Error::Closed)?;
        receiver.recv().map_err(|_| Error::Closed)?
    }

    /// Calls `observer` with every group of events once it can be read, in order. It must not block.
    pub fn observe(&self, observer: impl Fn(&[Envelope]) + Send + std::marker::Sync + 'static) {
        *self
            .inner
            .shared
            .observer
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(Box::new(observer));
    }

    /// Returns once everything acknowledged before the call can be read. Waits while the store is opened again after its
    /// first failure, which takes a second or two, so that who asks then is not told of what is over when it reads this.
    ///
    /// # Errors
    ///
    /// What stopped the store, when it no longer takes events.
    pub fn settle(&self) -> Result<u64> {
        let shared = &self.inner.shared;
        let wanted = shared.committed.load(Ordering::Acquire);
        let stored = shared.wait_until(|stored| {
            stored.failure.is_some() || (stored.seq >= wanted && !stored.is_reopening)
        });
        stored.failure.clone().map_or(Ok(stored.seq), Err)
    }

    /// Returns what keeps the journal from taking or showing events for now, one line each; empty while all is well.
    pub fn troubles(&self) -> Vec<String> {
        let shared = &self.inner.shared;
        let log = shared
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let store = shared
            .stored
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .failure
            .clone();
        let log =
            log.map(|error| format!("the journal takes no calls, they wait in the spool: {error}"));
        let store =
            store.map(|error| format!("what was journaled of late cannot be read yet: {error}"));
        log.into_iter().chain(store).collect()
    }

    /// Returns the sequence number of the last acknowledged event, 0 for an empty journal.
    pub fn last_seq(&self) -> u64 {
        self.inner.shared.committed.load(Ordering::Acquire)
    }

    /// Walks over those events of a range that are there now, of the sessions that are wanted, in order. An error is the
    /// last that comes, be it that an event is missing, wanted or not. For walks over the whole of history: what is not
    /// wanted costs little, so several threads may each walk for some of the sessions.
    ///
    /// # Errors
    ///
    /// While the store cannot be read: half of what was acknowledged must look like all of it to nobody.
    pub fn history(
        &self,
        events: RangeInclusive<u64>,
        wanted: impl Fn(Uuid) -> bool,
    ) -> Result<impl Iterator<Item = Result<Envelope>>> {
        let (from, last) = (*events.start(), self.store().last_seq()?.min(*events.end()));
        let segments = intake::segments(&layout::intake_dir(self.dir()))?;
        Ok(History::new(
            Arc::clone(&self.inner.shared),
            segments,
            from,
            last,
            wanted,
        ))
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// The store, for whoever reads.
    pub(crate) fn store(&self) -> &Store {
        &self.inner.shared.store
    }

    /// Whoever works on all of the journal holds this meanwhile.
    pub(crate) fn upkeep(&self) -> &Mutex<()> {
        &self.inner.upkeep
    }

    /// Ends the segment that is written to, and calls `done` once all before the next one are sealed.
    pub(crate) fn rotate(&self, done: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.inner
            .queue
            .send(Command::Rotate(done))
            .map_err(|_| Error::Closed)
    }

    /// Commits what waits, flushes the store and ends both threads. Later appends are refused.
    pub fn close(&self) {
        let _ = self.inner.queue.send(Command::Stop);
        let threads = std::mem::take(
            &mut *self
                .inner
                .threads
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.queue.send(Command::Stop);
        for thread in
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner))
        {
            // The observer may hold the last handle, and then this runs on the store's own thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{Event, Stream};

    fn draft(number: u128) -> Draft {
        let (event, at) = (
            Event::CheckpointCleared {},
            Timestamp::from_micros(1_000_000),
        );
        Draft {
            stream: Stream::daemon(),
            at,
            id: Uuid::from_u128(number),
            event,
            payload: None,
        }
    }

    #[test]
    fn who_asks_while_the_store_is_opened_again_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        journal.append_wait(vec![draft(1)]).expect("appended");
        journal.settle().expect("settled");
        let reopening = |is_so| {
            journal
                .inner
                .shared
                .stored
                .lock()
                .expect("nobody panicked")
                .is_reopening = is_so
        };

        reopening(true);
        let (told, answers) = channel();
        let reader = std::thread::spawn({
            let journal = journal.clone();
            move || told.send(journal.settle()).expect("awaited")
        });
        // Who does not wait has answered by then.
        answers
            .recv_timeout(Duration::from_millis(200))
            .expect_err("it waits");
        reopening(false);
        journal.append_wait(vec![draft(2)]).expect("appended");
        assert!(answers.recv().expect("answered").expect("readable") >= 1);
        reader.join().expect("no panic");
    }
}
