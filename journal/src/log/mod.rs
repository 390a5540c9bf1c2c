//! The handle to a journal and its three threads: the committer orders appends, drops duplicates and writes them to the
//! intake log; the sync thread syncs events that may be synced later; the store writer moves durable events into the
//! store. All other threads read.
//!
//! An append is written to the intake log, synced by group commit, acknowledged, and then stored. The thread that appends
//! does the committer's part itself when nothing would make it wait. A reader that needs every acknowledged event calls
//! [`Journal::settle`] first.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use parking_lot::{Mutex, RwLock};
use uuid::Uuid;

use crate::error::{Doing, Error, Result};
use crate::imported::ImportedEvents;
use crate::recovery::{self, Recovered};
use crate::store::Store;
use crate::{Draft, Envelope, Identity, Payload, Renewal, Stream, intake, layout};

mod append;
mod committer;
mod history;
mod read;
mod shared;
mod store_writer;
mod submit;

use append::{Ack, Command, Imported};
pub use append::{Appended, Appending, Done, Options, Sync};
use committer::{Committer, sync_batches};
use history::History;
use shared::Shared;
use store_writer::StoreWriter;

/// Appends that may wait for the committer; one more is refused with [`Error::Overloaded`].
const QUEUE_MAX: usize = 1024;

/// A handle to a journal. Cheap to clone. [`Journal::close`] closes the journal, as does dropping the last handle.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

/// What every draft passes before it is appended.
type Cleaner = Box<dyn Fn(Draft) -> Draft + Send + std::marker::Sync>;

struct Inner {
    dir: PathBuf,
    queue: SyncSender<Command>,
    committer: Arc<committer::Shareable>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    maintenance: Mutex<()>,
    imported: RwLock<ImportedEvents>,
    cleaner: RwLock<Option<Cleaner>>,
    _lock: std::fs::File,
}

impl Journal {
    /// Opens the journal in `dir` and brings the store up to date with the intake log. Creates a missing journal.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] while another process has the journal open; [`Error::Newer`] if a newer program wrote it;
    /// [`Error::Damaged`] if an event is missing from both the intake log and the store.
    pub fn open(dir: &Path, options: Options) -> Result<(Self, Recovered)> {
        let lock = recovery::lock(dir)?;
        let (store, writer, recovered) = recovery::recover(dir, &lock)?;
        let next_seq = recovered.last_seq + 1;
        let shared = Arc::new(Shared::new(store, recovered.last_seq));
        let (queue, commands) = sync_channel(QUEUE_MAX);
        let (to_store, batches) = channel();
        let entries = shared.store.entries().into_iter();
        let last_at = entries.map(|entry| (entry.stream.session, entry.last_at));
        let last_at = last_at.collect();
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
            // The journal may have been closed before it was last idle.
            appended: true,
            tried: None,
        };
        let committer = Arc::new(std::sync::Mutex::new(Some(committer)));
        let commit = {
            let committer = Arc::clone(&committer);
            move || committer::run(&committer, &commands)
        };
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.into());
            thread.spawn(body).doing("start a thread for", dir)
        };
        let store_writer = StoreWriter::new(Arc::clone(&shared), dir.to_owned(), batches);
        let threads = vec![
            spawn("journal-commit", Box::new(commit))?,
            spawn("journal-store", Box::new(move || store_writer.run()))?,
            spawn("journal-sync", Box::new(move || sync_batches(&files)))?,
        ];
        let inner = Inner {
            dir: dir.to_owned(),
            queue,
            committer,
            shared,
            threads: Mutex::new(threads),
            maintenance: Mutex::default(),
            imported: RwLock::new(ImportedEvents::load(dir, recovered.last_seq)),
            cleaner: RwLock::default(),
            _lock: lock,
        };
        Ok((
            Self {
                inner: Arc::new(inner),
            },
            recovered,
        ))
    }

    /// Appends drafts together, in order, and calls `done` once they are acknowledged, on this thread or another one. Waits
    /// for no sync and no other append.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] when too many appends wait, [`Error::Closed`] after [`Journal::close`],
    /// [`Error::Collector`] in a collector's journal; `done` gets all other errors.
    pub fn append(
        &self,
        drafts: Vec<Draft>,
        done: impl FnOnce(Result<Vec<Appended>>) + Send + 'static,
    ) -> Result<()> {
        self.refuse_collector()?;
        self.try_append(self.cleaned(drafts), Ack::Usual, Box::new(done))
    }

    /// Like [`Journal::append`], but calls `done` before the events are synced. The caller has to wait for
    /// [`Journal::when_synced`] before it reports them as safe.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub fn append_unsynced(
        &self,
        drafts: Vec<Draft>,
        done: impl FnOnce(Result<Vec<Appended>>) + Send + 'static,
    ) -> Result<()> {
        self.refuse_collector()?;
        self.try_append(self.cleaned(drafts), Ack::Written, Box::new(done))
    }

    /// Returns a callback for an append that calls `done` once the events can be read, too: a caller that needs both is
    /// woken once. As with [`Journal::settle`], `done` gets the failure of the store.
    pub fn once_readable(
        &self,
        done: impl FnOnce(Result<Vec<Appended>>) + Send + 'static,
    ) -> impl FnOnce(Result<Vec<Appended>>) + Send + 'static {
        let shared = Arc::clone(&self.inner.shared);
        move |appended| match appended {
            Ok(appended) => {
                let wanted = shared.committed.load(Ordering::Acquire);
                shared.when_known(
                    wanted,
                    Box::new(move |settled| done(settled.map(|()| appended))),
                );
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Calls `done` once all events acknowledged so far are synced.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub fn sync(&self, done: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        let done: Done = Box::new(move |result| done(result.map(drop)));
        self.try_append(Vec::new(), Ack::Synced, done)
    }

    /// Calls `done` once an acknowledged event is synced, which it may be with one that came later.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub fn when_synced(
        &self,
        seq: u64,
        done: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Result<()> {
        if self.inner.shared.synced.load(Ordering::Acquire) < seq {
            return self.sync(done);
        }
        done(Ok(()));
        Ok(())
    }

    /// Appends and waits for the acknowledgement. Blocks, so it is for callers on threads of their own.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`], except that it waits instead of returning [`Error::Overloaded`].
    pub fn append_wait(&self, drafts: Vec<Draft>) -> Result<Vec<Appended>> {
        self.refuse_collector()?;
        self.submit(self.cleaned(drafts), Vec::new())?.wait()
    }

    /// Marks all events as imported that are appended from `first` on until the journal is opened again: nothing is written
    /// or typed outside the journal because of what they say (spec ENV-5).
    ///
    /// # Errors
    ///
    /// If the mark cannot be written.
    pub fn mark_imported_from(&self, first: u64) -> Result<()> {
        let imported = self.inner.imported.write();
        let mut imported = imported;
        imported.mark_from(&self.inner.dir, first)
    }

    /// Returns whether an event was imported, other than from a journal that its owner called their own.
    pub fn is_imported(&self, seq: u64) -> bool {
        let imported = self.inner.imported.read();
        imported.has(seq)
    }

    /// Appends exported events in one commit and keeps their recording times. The import ends at an event that is already
    /// known: later ones would get other numbers.
    ///
    /// # Errors
    ///
    /// As [`Journal::append_wait`].
    pub fn import_all(&self, events: Vec<(Envelope, Payload)>) -> Result<Vec<Appended>> {
        self.import_begin(events)?.wait()
    }

    /// As [`Journal::import_all`], and does not wait for the acknowledgment.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] after [`Journal::close`].
    pub fn import_begin(&self, events: Vec<(Envelope, Payload)>) -> Result<Appending> {
        let (drafts, imported) = events.into_iter().map(parts).unzip();
        self.submit(drafts, imported)
    }

    /// Sets the one observer. It is called with every group of events once they are readable, in order, and must not
    /// block.
    pub fn observe(&self, observer: impl Fn(&[Envelope]) + Send + std::marker::Sync + 'static) {
        *self.inner.shared.observer.write() = Some(Box::new(observer));
    }

    /// Returns once every event acknowledged before the call is readable. Waits while the store is reopened after its
    /// first failure, which takes a second or two, so callers never see a failure that has already been repaired.
    ///
    /// # Errors
    ///
    /// The failure of the store, while it takes no events.
    pub fn settle(&self) -> Result<u64> {
        let shared = &self.inner.shared;
        let wanted = shared.committed.load(Ordering::Acquire);
        shared.wait_until(|stored| stored.is_known(wanted)).result()
    }

    /// As [`Journal::settle`], and calls `done` instead of blocking, after the callbacks that were given earlier and wait
    /// for the same events.
    pub fn when_settled(&self, done: impl FnOnce(Result<()>) + Send + 'static) {
        let shared = &self.inner.shared;
        let wanted = shared.committed.load(Ordering::Acquire);
        shared.when_known(wanted, Box::new(done));
    }

    /// Returns why the journal refuses appends or reads at the moment, one line each; empty while it is healthy.
    pub fn health_issues(&self) -> Vec<String> {
        let shared = &self.inner.shared;
        let log = shared.log_failure.lock().clone();
        let store = shared.stored.lock().failure.clone();
        let log = log.map(|error| format!("the journal accepts no hook calls: {error}"));
        let store = store.map(|error| format!("recent events cannot be read yet: {error}"));
        log.into_iter().chain(store).collect()
    }

    /// Returns the sequence number of the last acknowledged event, 0 for an empty journal.
    pub fn last_seq(&self) -> u64 {
        self.inner.shared.committed.load(Ordering::Acquire)
    }

    /// Iterates over the events of a range, of the sessions that `wanted` accepts, in order. An error ends the iteration;
    /// a missing event is one, whether it is wanted or not. For reading all of history: skipping an event is cheap, so
    /// several threads can share the sessions between them.
    ///
    /// # Errors
    ///
    /// While the store cannot be read: a part of the acknowledged events must not pass for all of them.
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

    /// Returns the journal's identity; makes it if the journal has none yet.
    ///
    /// # Errors
    ///
    /// If it cannot be read or written.
    pub fn identity(&self) -> Result<Identity> {
        Identity::of(&self.inner.dir)
    }

    /// Gives the journal a new identity, because its past is not what it was.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn renew_identity(&self, because: Renewal) -> Result<Identity> {
        Identity::renew(&self.inner.dir, because)
    }

    /// Returns whether this is a collector's journal: it has events of other machines, so nothing may be done because of
    /// them (spec FLEET-9).
    pub fn is_collector(&self) -> bool {
        self.store().entry(Stream::fleet().session).is_some()
    }

    fn refuse_collector(&self) -> Result<()> {
        if self.is_collector() {
            let path = self.inner.dir.clone();
            return Err(Error::Collector { path });
        }
        Ok(())
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.shared.store
    }

    /// The lock that keeps two compactions apart.
    pub(crate) fn maintenance(&self) -> &Mutex<()> {
        &self.inner.maintenance
    }

    /// Starts a new segment, and calls `done` once all earlier ones are sealed.
    pub(crate) fn rotate(&self, done: Box<dyn FnOnce() + Send>) -> Result<()> {
        let sent = self.inner.queue.send(Command::Rotate(done));
        sent.map_err(|_| Error::Closed)
    }

    /// Commits waiting appends, flushes the store and ends the threads. Later appends are refused.
    pub fn close(&self) {
        let _ = self.inner.queue.send(Command::Stop);
        let threads = std::mem::take(&mut *self.inner.threads.lock());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// Divides an event that another journal recorded into what is appended and what is kept of the recording.
fn parts((envelope, payload): (Envelope, Payload)) -> (Draft, Imported) {
    let imported = Imported {
        recorded_at: envelope.recorded_at,
        late: envelope.late,
        payload_dropped: payload == Payload::Dropped,
        origin: envelope.origin,
    };
    let draft = Draft {
        stream: envelope.stream,
        at: envelope.at,
        id: envelope.id,
        event: envelope.event,
        payload: payload.into_text(),
    };
    (draft, imported)
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.queue.send(Command::Stop);
        for thread in std::mem::take(&mut *self.threads.lock()) {
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
    use std::time::Duration;

    use super::*;
    use crate::{Event, Stream, Timestamp};

    fn draft(number: u128) -> Draft {
        Draft {
            stream: Stream::daemon(),
            at: Timestamp::from_micros(1_000_000),
            id: Uuid::from_u128(number),
            event: Event::CheckpointCleared {},
            payload: None,
        }
    }

    #[test]
    fn settle_waits_while_the_store_is_reopened() {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        journal.append_wait(vec![draft(1)]).expect("appended");
        journal.settle().expect("settled");
        let reopening =
            |is_reopening| journal.inner.shared.stored.lock().is_reopening = is_reopening;

        reopening(true);
        let (sender, answers) = channel();
        let reader = std::thread::spawn({
            let journal = journal.clone();
            move || sender.send(journal.settle()).expect("awaited")
        });
        let (sender, calls) = channel();
        journal.when_settled(move |result| sender.send(result).expect("awaited"));
        // Enough for a call that does not wait.
        let (sender, readable) = channel();
        let done = move |result| sender.send(result).expect("awaited");
        let append = journal.append(vec![draft(2)], journal.once_readable(done));
        append.expect("handed over");
        answers
            .recv_timeout(Duration::from_millis(200))
            .expect_err("it waits");
        calls.try_recv().expect_err("it waits");
        readable.try_recv().expect_err("it waits");
        reopening(false);
        journal.append_wait(vec![draft(3)]).expect("appended");
        let appended = readable.recv().expect("called").expect("readable");
        assert!(
            journal
                .event(appended[0].seq)
                .is_ok_and(|event| event.is_some())
        );
        assert!(answers.recv().expect("answered").expect("readable") >= 1);
        calls.recv().expect("called").expect("readable");
        reader.join().expect("no panic");
        let (sender, calls) = channel();
        journal.when_settled(move |result| sender.send(result).expect("awaited"));
        calls.recv().expect("called").expect("readable");
    }
}
