//! The journal: one writer thread that orders, dedupes and makes durable (another syncs what may be synced later); one
//! thread that moves what is durable into the store; and everybody else, who reads.
//!
//! The order of things: frames are written to the intake log, synced by group commit, acknowledged, and then stored.
//! Readers that need what was just acknowledged call [`Journal::settle`] first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, SEGMENT_BYTES, Unsealed, Writer};
use crate::mover::{Move, Shared, bytes_of, move_to_store};
use crate::read_ahead::ReadAhead;
use crate::recovery::{self, Recovered};
use crate::store::{Item, Store};
use crate::{Draft, Envelope, Payload, Timestamp, codec};

/// Appends that may wait for the writer; one more is refused with [`Error::Overloaded`].
const QUEUE_MAX: usize = 1024;
/// Appends that are committed together at most.
const GROUP_MAX: usize = 512;
/// Committed groups that may wait for the store; one more makes the writer wait.
const STORE_QUEUE_MAX: usize = 1024;
/// Pause between two attempts to write a segment anew whose sync failed.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// When an append is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Tool and model events once written, all others once synced (DESIGN 10).
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
        Self { sync: Sync::Mixed, batch_window: Duration::from_millis(50) }
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
        let (store, writer, recovered) = recovery::recover(dir)?;
        let next_seq = recovered.last_seq + 1;
        let shared = Arc::new(Shared::new(store, recovered.last_seq));
        let (queue, commands) = sync_channel(QUEUE_MAX);
        let (to_store, batches) = sync_channel(STORE_QUEUE_MAX);
        let last_at = shared.store.entries().into_iter().map(|entry| (entry.stream.session, entry.last_at)).collect();
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
            std::thread::Builder::new().name(name.into()).spawn(body).doing("start a thread for", dir)
        };
        let (mover, folder) = (Arc::clone(&shared), dir.to_owned());
        let threads = vec![
            spawn("journal-commit", Box::new(move || committer.run(&commands)))?,
            spawn("journal-store", Box::new(move || move_to_store(&mover, &folder, &batches)))?,
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
        Ok((Self { inner: Arc::new(inner) }, recovered))
    }

    /// Appends drafts that belong together, in order, and calls `done` once they are acknowledged. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] when too many appends wait, [`Error::Closed`] after [`Journal::close`]; `done` gets all else.
    pub fn append(&self, drafts: Vec<Draft>, done: impl FnOnce(Result<Vec<Appended>>) + Send + 'static) -> Result<()> {
        let append = Append { drafts, imported: None, durable: false, done: Box::new(done) };
        self.inner.queue.try_send(Command::Append(append)).map_err(|error| match error {
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
        let append = Append { drafts: Vec::new(), imported: None, durable: true, done };
        self.inner.queue.try_send(Command::Append(append)).map_err(|error| match error {
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
        let Envelope { stream, at, recorded_at, id, late, event, .. } = envelope;
        let imported = Imported { recorded_at, late, payload_dropped: payload == Payload::Dropped };
        let draft = Draft { stream, at, id, event, payload: payload.into_text() };
        let appended = self.submit(vec![draft], Some(imported))?;
        appended.first().copied().ok_or(Error::Closed)
    }

    fn submit(&self, drafts: Vec<Draft>, imported: Option<Imported>) -> Result<Vec<Appended>> {
        let (sender, receiver) = sync_channel(1);
        let done: Done = Box::new(move |result| {
            let _ = sender.send(result);
        });
        let append = Append { drafts, imported, durable: false, done };
        self.inner.queue.send(Command::Append(append)).map_err(|_| Error::Closed)?;
        receiver.recv().map_err(|_| Error::Closed)?
    }

    /// Calls `observer` with every group of events once it can be read, in order. It must not block.
    pub fn observe(&self, observer: impl Fn(&[Envelope]) + Send + std::marker::Sync + 'static) {
        *self.inner.shared.observer.write().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(observer));
    }

    /// Returns once everything acknowledged before the call can be read.
    ///
    /// # Errors
    ///
    /// What stopped the store, when it no longer takes events.
    pub fn settle(&self) -> Result<u64> {
        let shared = &self.inner.shared;
        let wanted = shared.committed.load(Ordering::Acquire);
        let stored = shared.wait_until(|stored| stored.failure.is_some() || stored.seq >= wanted);
        stored.failure.clone().map_or(Ok(stored.seq), Err)
    }

    /// Returns what keeps the journal from taking or showing events for now, one line each; empty while all is well.
    pub fn troubles(&self) -> Vec<String> {
        let shared = &self.inner.shared;
        let log = shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = shared.stored.lock().unwrap_or_else(PoisonError::into_inner).failure.clone();
        let log = log.map(|error| format!("the journal takes no calls, they wait in the spool: {error}"));
        let store = store.map(|error| format!("what was journaled of late cannot be read yet: {error}"));
        log.into_iter().chain(store).collect()
    }

    /// Returns the sequence number of the last acknowledged event, 0 for an empty journal.
    pub fn last_seq(&self) -> u64 {
        self.inner.shared.committed.load(Ordering::Acquire)
    }

    /// Walks over all events that are there now, from `from` on, in order; threads of its own read and decode ahead.
    /// For walks over the whole of history.
    pub fn history(&self, from: u64) -> impl Iterator<Item = Result<Envelope>> + use<> {
        let shared = Arc::clone(&self.inner.shared);
        let last = shared.stored.lock().unwrap_or_else(PoisonError::into_inner).seq;
        ReadAhead::new(from, last, move |first, end| {
            shared.store.events_from(first).take((end - first) as usize).collect()
        })
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
        self.inner.queue.send(Command::Rotate(done)).map_err(|_| Error::Closed)
    }

    /// Commits what waits, flushes the store and ends both threads. Later appends are refused.
    pub fn close(&self) {
        let _ = self.inner.queue.send(Command::Stop);
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.queue.send(Command::Stop);
        for thread in std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner)) {
            // The observer may hold the last handle, and then this runs on the store's own thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// The thread that orders events and makes them durable.
struct Committer {
    shared: Arc<Shared>,
    options: Options,
    writer: Writer,
    next_seq: u64,
    last_at: HashMap<Uuid, Timestamp>,
    to_store: SyncSender<Move>,
    /// Since when acknowledged events are unsynced.
    dirty: Option<Instant>,
    to_sync: SyncSender<(Arc<Unsealed>, PathBuf)>,
    /// When it was last tried to renew the segment.
    tried: Option<Instant>,
}

/// An append whose answer is known but not given yet.
struct Answer {
    done: Done,
    appended: Vec<Appended>,
    wants_sync: bool,
}

impl Committer {
    fn run(mut self, commands: &Receiver<Command>) {
        let mut group = Vec::new();
        loop {
            let sync = self.dirty.map(|since| self.options.batch_window.saturating_sub(since.elapsed()));
            let renew = self.writer.has_failed().then(|| self.renew_in());
            let first = match renew.or(sync) {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => commands.recv_timeout(wait),
            };
            let (mut stop, mut rotate) = (false, None);
            match first {
                Ok(Command::Append(append)) => group.push(append),
                Ok(Command::Rotate(done)) => rotate = Some(done),
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => stop = true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            while !stop && rotate.is_none() && !group.is_empty() && group.len() < GROUP_MAX {
                match commands.try_recv() {
                    Ok(Command::Append(append)) => group.push(append),
                    Ok(Command::Rotate(done)) => rotate = Some(done),
                    Ok(Command::Stop) => stop = true,
                    Err(_) => break,
                }
            }
            if !group.is_empty() {
                self.commit(std::mem::take(&mut group));
            }
            if let Some(done) = rotate {
                self.rotate_and_seal_all(done);
            }
            let window_over = self.dirty.is_some_and(|since| since.elapsed() >= self.options.batch_window);
            if stop {
                // Whoever waited for the disk was answered; of the rest a failure loses nothing that was promised.
                let _ = if self.writer.has_failed() { self.writer.renew() } else { self.writer.sync() };
                return;
            }
            // The other thread does it, so that nobody waits for a disk that he does not need. While it is still at
            // the last one, the next window brings this one.
            if window_over {
                let file = (self.writer.file(), self.writer.path().to_owned());
                self.dirty = self.to_sync.try_send(file).is_err().then(Instant::now);
            }
            // Also when nothing is appended: acknowledged events may be in it.
            if self.writer.has_failed() {
                let _ = self.renewed();
            }
        }
    }

    /// Writes, syncs where an event wants it, answers, and hands over to the store.
    fn commit(&mut self, group: Vec<Append>) {
        let (before_length, before_seq) = (self.writer.len(), self.next_seq);
        let (mut frames, mut items, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        let recorded_at = Timestamp::now();
        let mut fresh: HashMap<Uuid, u64> = HashMap::new();
        for append in group {
            match self.order(append, recorded_at, &mut fresh, &mut frames, &mut items) {
                Ok(answer) => answers.push(answer),
                Err((done, error)) => done(Err(error)),
            }
        }
        let sync = answers.iter().any(|answer| answer.wants_sync);
        let written = self.renewed().and_then(|()| match (items.is_empty(), sync) {
            // A duplicate of an event that is written but not synced yet is acknowledged only once it is.
            (true, true) => self.writer.sync(),
            (true, false) => Ok(()),
            (false, true) => self.writer.append(&frames).and_then(|()| self.writer.sync()),
            (false, false) => self.writer.append(&frames),
        });
        if !(written.is_ok() && items.is_empty() && !sync) {
            self.note(written.as_ref().err());
        }
        if let Err(error) = written {
            if !items.is_empty() {
                self.writer.take_back(before_length);
                self.next_seq = before_seq;
            }
            answers.into_iter().for_each(|answer| (answer.done)(Err(error.clone())));
            return;
        }
        self.dirty = if sync { None } else { self.dirty.or_else(|| (!items.is_empty()).then(Instant::now)) };
        self.announce(fresh);
        answers.into_iter().for_each(|answer| (answer.done)(Ok(answer.appended)));
        // Last: the callers need not wait until the store takes more.
        self.hand_over(items);
    }

    /// Makes sure that the segment can be trusted, renewing it after a failure; not more often than [`RENEW_EVERY`].
    fn renewed(&mut self) -> Result<()> {
        if !self.writer.has_failed() {
            return Ok(());
        }
        if !self.renew_in().is_zero() {
            let trouble = self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return Err(trouble.unwrap_or(Error::Overloaded));
        }
        self.tried = Some(Instant::now());
        let renewed = self.writer.renew();
        self.note(renewed.as_ref().err());
        match &renewed {
            Ok(()) => tracing::warn!("The intake segment was written anew after a failed sync."),
            Err(error) => tracing::error!(%error, "The intake segment could not be written anew; it is tried again."),
        }
        renewed
    }

    /// Keeps for `status` whether the log takes events.
    fn note(&self, error: Option<&Error>) {
        *self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner) = error.cloned();
    }

    /// How long the next attempt to renew the segment has to wait.
    fn renew_in(&self) -> Duration {
        self.tried.map_or(Duration::ZERO, |tried| RENEW_EVERY.saturating_sub(tried.elapsed()))
    }

    /// Gives every draft its place and its bytes.
    fn order(
        &mut self,
        append: Append,
        now: Timestamp,
        fresh: &mut HashMap<Uuid, u64>,
        frames: &mut Vec<u8>,
        items: &mut Vec<Item>,
    ) -> std::result::Result<Answer, (Done, Error)> {
        let Append { drafts, imported, durable, done } = append;
        let mut appended = Vec::with_capacity(drafts.len());
        let mut wants_sync = durable;
        for draft in drafts {
            wants_sync |= self.options.sync == Sync::Always || !draft.event.may_be_batched();
            match fresh.get(&draft.id).copied().map_or_else(|| self.known(draft.id), |seq| Ok(Some(seq))) {
                Ok(Some(seq)) => appended.push(Appended { seq, duplicate: true }),
                Ok(None) => {
                    let seq = self.next_seq;
                    self.next_seq += 1;
                    fresh.insert(draft.id, seq);
                    let item = self.item(draft, seq, now, imported.as_ref());
                    frame::push(frames, Kind::Envelope, &codec::join(&item.event, &item.payload));
                    items.push(item);
                    appended.push(Appended { seq, duplicate: false });
                }
                Err(error) => return Err((done, error)),
            }
        }
        Ok(Answer { done, appended, wants_sync })
    }

    fn item(&mut self, draft: Draft, seq: u64, now: Timestamp, imported: Option<&Imported>) -> Item {
        let Draft { stream, at, id, event, payload } = draft;
        let mut is_late = false;
        if event.host().is_some() {
            let last = self.last_at.entry(stream.session).or_insert(at);
            is_late = at < *last;
            *last = at.max(*last);
        }
        let (recorded_at, late) = imported.map_or((now, is_late), |own| (own.recorded_at, own.late));
        let envelope = Envelope { seq, stream, at, recorded_at, id, late, event };
        let is_dropped = imported.is_some_and(|own| own.payload_dropped);
        let payload = if is_dropped { codec::DROPPED.to_vec() } else { codec::encode_payload(payload.as_deref()) };
        Item { event: codec::encode_event(&envelope), payload, envelope }
    }

    /// Returns the place of an event that is already there.
    fn known(&self, id: Uuid) -> Result<Option<u64>> {
        let in_flight = self.shared.in_flight.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        if in_flight.is_some() { Ok(in_flight) } else { self.shared.store.seq_by_id(id) }
    }

    /// Makes known what is committed: from here on it is no news when it comes again, and readers wait for it.
    fn announce(&self, fresh: HashMap<Uuid, u64>) {
        self.shared.in_flight.lock().unwrap_or_else(PoisonError::into_inner).extend(fresh);
        self.shared.committed.store(self.next_seq - 1, Ordering::Release);
    }

    fn hand_over(&mut self, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        self.shared.wait_for_room();
        self.shared.waiting_bytes.fetch_add(bytes_of(&items), Ordering::AcqRel);
        // The store's thread only ends after this one, and reports its failures through `settle`.
        let _ = self.to_store.send(Move::Items(items));
        if self.writer.len() >= SEGMENT_BYTES {
            self.rotate();
        }
    }

    /// Begins a new segment, and has all before it sealed, also those whose sealing a crash cut short.
    fn rotate_and_seal_all(&mut self, done: Box<dyn FnOnce() + Send>) {
        if self.writer.len() > 0 {
            self.rotate();
        }
        for segment in intake::segments(self.writer.dir()).unwrap_or_default() {
            if !segment.sealed && segment.path != self.writer.path() {
                let _ = self.to_store.send(Move::Seal(segment.path));
            }
        }
        let _ = self.to_store.send(Move::Tell(done));
    }

    /// Begins a new segment. Where that fails, the old one grows on.
    fn rotate(&mut self) {
        if self.writer.sync().is_err() {
            return;
        }
        match Writer::create(self.writer.dir(), self.next_seq) {
            Ok(writer) => {
                let full = std::mem::replace(&mut self.writer, writer);
                self.dirty = None;
                let _ = self.to_store.send(Move::Seal(full.path().to_owned()));
            }
            Err(error) => tracing::warn!(%error, "Could not begin a new intake segment."),
        }
    }
}

/// The thread that syncs what was acknowledged once written.
fn sync_batches(files: &Receiver<(Arc<Unsealed>, PathBuf)>) {
    for (file, path) in files {
        if let Err(error) = file.sync(&path) {
            tracing::error!(%error, "Tool events are acknowledged but could not be synced; a power cut may lose them.");
        }
    }
}
