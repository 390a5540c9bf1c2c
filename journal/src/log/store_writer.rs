//! Moves durable events into the store, on one thread and in order. After a failure of the store it reopens it in place
//! and brings it up to date from the intake log, which still has every event.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::intake::{self, Form, Segment};
use crate::store::{Item, Store};
use crate::{Envelope, layout, recovery};

/// Bytes of committed events that may wait for the store; beyond that the committer waits. A burst is acknowledged at the
/// speed of the log, and a reader that needs all of it waits for about a second at most.
const STORE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Maximum time between two flushes of the store while it is written to.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// How long events wait to be stored when no reader asks for them: several are stored together, and the agent that was
/// just answered has the processor first.
const LINGER: Duration = Duration::from_millis(3);
/// Maximum number of events in one write to the store.
const STORE_BATCH: usize = 512;
/// A smaller store is not packed.
const PACK_BYTES: u64 = 6 * 1024 * 1024;
/// Time between two times that the store is packed while it is written to. Readers wait at its end, for up to a second.
const PACK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause between two attempts to reopen a failed store.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) type Observer = Box<dyn Fn(&[Envelope]) + Send + std::marker::Sync>;

/// State shared by the journal's threads and its readers.
pub(crate) struct Shared {
    pub(crate) store: Store,
    /// Ids that are durable but not in the store yet.
    pub(crate) in_flight: Mutex<HashMap<Uuid, u64>>,
    /// The last acknowledged event.
    pub(crate) committed: AtomicU64,
    /// Bytes of committed events that are not in the store yet.
    pub(crate) waiting_bytes: AtomicU64,
    pub(crate) stored: Mutex<Stored>,
    /// Signals that `stored` or `waiting_bytes` has changed.
    progressed: Condvar,
    /// Signals that a thread has begun to wait for the store.
    wanted: Condvar,
    pub(crate) observer: RwLock<Option<Observer>>,
    /// Why the intake log refuses appends at the moment.
    pub(crate) log_failure: Mutex<Option<Error>>,
}

/// How far the store is.
pub(crate) struct Stored {
    pub(crate) seq: u64,
    /// Number of threads that wait for the store.
    waiting: usize,
    pub(crate) is_reopening: bool,
    pub(crate) failure: Option<Error>,
}

impl Shared {
    /// Starts with a store that has all events up to `last`.
    pub(crate) fn new(store: Store, last: u64) -> Self {
        Self {
            store,
            in_flight: Mutex::default(),
            committed: AtomicU64::new(last),
            waiting_bytes: AtomicU64::new(0),
            stored: Mutex::new(Stored {
                seq: last,
                waiting: 0,
                is_reopening: false,
                failure: None,
            }),
            progressed: Condvar::new(),
            wanted: Condvar::new(),
            observer: RwLock::default(),
            log_failure: Mutex::default(),
        }
    }

    /// Waits until the state of the store meets a condition. The store does not linger meanwhile.
    pub(crate) fn wait_until(&self, is_met: impl Fn(&Stored) -> bool) -> MutexGuard<'_, Stored> {
        let mut stored = self.stored();
        if !is_met(&stored) {
            stored.waiting += 1;
            self.wanted.notify_one();
            stored = self
                .progressed
                .wait_while(stored, |stored| !is_met(stored))
                .unwrap_or_else(PoisonError::into_inner);
            stored.waiting -= 1;
        }
        stored
    }

    /// Waits while the store is too far behind.
    pub(crate) fn wait_for_room(&self) {
        drop(self.wait_until(|_| self.waiting_bytes.load(Ordering::Acquire) <= STORE_BYTES_MAX));
    }

    pub(crate) fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn in_flight(&self) -> MutexGuard<'_, HashMap<Uuid, u64>> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn log_failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.log_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Yields the processor for a moment, unless a thread waits for the store.
    fn linger(&self) {
        let _ = self
            .wanted
            .wait_timeout_while(self.stored(), LINGER, |stored| stored.waiting == 0);
    }

    fn notify(&self, envelopes: &[Envelope]) {
        let observer = self.observer.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(observer) = &*observer {
            observer(envelopes);
        }
    }
}

pub(crate) fn bytes_of(items: &[Item]) -> u64 {
    items
        .iter()
        .map(|item| (item.event.len() + item.payload.len()) as u64)
        .sum()
}

/// Work for the store's thread.
pub(crate) enum StoreJob {
    Items(Vec<Item>),
    Seal(Segment),
    /// Nothing was appended for a while.
    Rest,
    /// Reports that all jobs before it are done.
    Done(Box<dyn FnOnce() + Send>),
}

/// The thread that writes to the store.
pub(super) struct StoreWriter {
    pub(super) shared: Arc<Shared>,
    /// The journal's folder.
    pub(super) dir: PathBuf,
    pub(super) jobs: Receiver<StoreJob>,
    /// Since when written events are not flushed.
    unflushed: Option<Instant>,
    /// When the store failed, or could not be reopened, last.
    failed: Option<Instant>,
    /// A job that was received while events were gathered.
    next: Option<StoreJob>,
    /// When the store was packed last, and its size then.
    packed: (Instant, u64),
    /// Segments to look at between other jobs, the oldest last: a stop may have interrupted their sealing, or an older
    /// version may have sealed them in its way.
    unsealed: Vec<Segment>,
}

impl StoreWriter {
    pub(super) fn new(shared: Arc<Shared>, dir: PathBuf, jobs: Receiver<StoreJob>) -> Self {
        let mut unsealed = intake::segments(&layout::intake_dir(&dir)).unwrap_or_default();
        // The last one is being written.
        unsealed.pop_if(|segment| segment.form == Form::Open);
        unsealed.reverse();
        Self {
            packed: (Instant::now(), 0),
            unsealed,
            shared,
            dir,
            jobs,
            unflushed: None,
            failed: None,
            next: None,
        }
    }

    pub(super) fn run(mut self) {
        loop {
            match self.receive() {
                Ok(StoreJob::Items(items)) => self.store_gathered(items),
                Ok(StoreJob::Seal(segment)) => self.seal(&segment),
                Ok(StoreJob::Rest) => self.pack(),
                Ok(StoreJob::Done(done)) => done(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = self.shared.store.flush();
                    return;
                }
            }
            let is_due = |since: Option<Instant>, interval| {
                since.is_some_and(|since| since.elapsed() >= interval)
            };
            if is_due(self.failed, REOPEN_INTERVAL) {
                self.failed = self.reopen().is_err().then(Instant::now);
            }
            if self.failed.is_none() && is_due(self.unflushed, FLUSH_INTERVAL) {
                if let Err(error) = self.shared.store.flush() {
                    tracing::warn!(%error, "Could not flush the store; reopening it.");
                    self.failed = self.reopen().is_err().then(Instant::now);
                }
                self.unflushed = None;
            }
        }
    }

    /// Waits for the next job, or until the store must be reopened or flushed.
    fn receive(&mut self) -> std::result::Result<StoreJob, RecvTimeoutError> {
        if let Some(job) = self.next.take() {
            return Ok(job);
        }
        if let Some(segment) = self.unsealed.pop() {
            return match self.jobs.try_recv() {
                Ok(job) => {
                    self.unsealed.push(segment);
                    Ok(job)
                }
                Err(TryRecvError::Empty) => Ok(StoreJob::Seal(segment)),
                Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            };
        }
        let until = |since: Option<Instant>, interval: Duration| {
            since.map(|since| interval.saturating_sub(since.elapsed()))
        };
        match until(self.failed, REOPEN_INTERVAL).or(until(self.unflushed, FLUSH_INTERVAL)) {
            Some(wait) => self.jobs.recv_timeout(wait),
            None => self.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn store_gathered(&mut self, mut items: Vec<Item>) {
        self.gather(&mut items);
        if self.next.is_none() && items.len() < STORE_BATCH {
            self.shared.linger();
            self.gather(&mut items);
        }
        if !self.store(items) {
            self.failed.get_or_insert_with(Instant::now);
        }
        self.unflushed.get_or_insert_with(Instant::now);
    }

    /// Adds events that wait in the queue, up to the first job of another kind.
    fn gather(&mut self, items: &mut Vec<Item>) {
        while self.next.is_none() && items.len() < STORE_BATCH {
            match self.jobs.try_recv() {
                Ok(StoreJob::Items(more)) => items.extend(more),
                Ok(other) => self.next = Some(other),
                Err(_) => return,
            }
        }
    }

    /// Stores events and notifies the observer. Returns false while the store takes none: they stay in the intake log,
    /// from which the store is brought up to date later. A store with a hole would be worse than one that is behind.
    fn store(&self, mut items: Vec<Item>) -> bool {
        let shared = &self.shared;
        let bytes = bytes_of(&items);
        let stored = shared.stored();
        let has_failed = stored.failure.is_some();
        let seq = stored.seq;
        drop(stored);
        // Reopening may have stored some of them.
        items.retain(|item| item.envelope.seq > seq);
        let result = match items.last().map(|item| item.envelope.seq) {
            Some(last) if !has_failed => {
                shared.store.put(&items).map(|()| self.publish(items, last))
            }
            _ => Ok(()),
        };
        let result = result.or_else(|error| {
            tracing::error!(%error, "The store refuses events; they are safe in the intake log. Reopening the store.");
            self.reopen()
        });
        // Under the lock that waiting threads hold while they check, or one of them might miss the change.
        let stored = shared.stored();
        shared.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
        drop(stored);
        shared.progressed.notify_all();
        result.is_ok() && !has_failed
    }

    /// Makes stored events visible to readers and notifies the observer.
    fn publish(&self, items: Vec<Item>, last: u64) {
        let mut in_flight = self.shared.in_flight();
        for item in &items {
            in_flight.remove(&item.envelope.id);
        }
        drop(in_flight);
        self.shared.stored().seq = last;
        let envelopes: Vec<Envelope> = items.into_iter().map(|item| item.envelope).collect();
        self.shared.notify(&envelopes);
    }

    /// Reopens the store, brings it up to date from the intake log, and notifies the observer of events it has missed.
    fn reopen(&self) -> Result<()> {
        let shared = &self.shared;
        let last = shared.committed.load(Ordering::Acquire);
        let mut notes = Vec::new();
        shared.stored().is_reopening = true;
        let reopened = shared.store.reopen(|| {
            let (store, recovered) = recovery::reopen(&self.dir, last)?;
            notes = recovered.notes;
            Ok(store)
        });
        let mut stored = shared.stored();
        stored.is_reopening = false;
        stored.failure = reopened.as_ref().err().cloned();
        let notified = stored.seq;
        if reopened.is_ok() {
            stored.seq = last;
        }
        drop(stored);
        for note in notes {
            tracing::warn!(note, "Reopened the store.");
        }
        if let Err(error) = &reopened {
            tracing::warn!(%error, "Could not reopen the store; trying again.");
        } else {
            tracing::info!(last, "The store takes events again.");
            shared.in_flight().retain(|_, seq| *seq > last);
            let missed = shared
                .store
                .events_from(notified + 1)
                .map_while(Result::ok)
                .take((last - notified) as usize);
            for envelope in missed {
                shared.notify(&[envelope]);
            }
        }
        shared.progressed.notify_all();
        reopened
    }

    /// Packs the store if most of it is space that sled does not use and does not return.
    fn pack(&mut self) {
        let shared = &self.shared;
        let has_failed = self.failed.is_some() || shared.stored().failure.is_some();
        let size = shared.store.size_on_disk();
        if has_failed || size < PACK_BYTES.max(2 * self.packed.1) {
            return;
        }
        let began = Instant::now();
        match recovery::repack(&self.dir, &shared.store) {
            Ok(true) => {
                let now = shared.store.size_on_disk();
                tracing::debug!(before = size, now, took = ?began.elapsed(), "Packed the store.");
                self.packed = (Instant::now(), now);
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "Could not pack the store; reopening it.");
                self.packed = (Instant::now(), size);
                self.failed = self.reopen().is_err().then(Instant::now);
            }
        }
    }

    /// Seals a segment. From then on the store finds its events there.
    fn seal(&mut self, segment: &Segment) {
        if segment.form == Form::Sealed {
            if let Err(error) = segment.protect() {
                tracing::warn!(%error, "Could not add parity to an intake segment.");
            }
            return;
        }
        // It may be queued twice.
        if !segment.path.exists() {
            return;
        }
        if let Err(error) = intake::seal(segment) {
            tracing::warn!(%error, "Could not seal an intake segment.");
        } else if let Err(error) = self.shared.store.release_sealed(segment.first_seq) {
            tracing::warn!(%error, "The store keeps events that the intake log has sealed.");
        }
        if self.packed.0.elapsed() >= PACK_INTERVAL {
            self.pack();
        }
    }
}
