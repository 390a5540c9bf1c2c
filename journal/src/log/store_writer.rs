//! Moves durable events into the store, on one thread and in order. After a failure of the store it reopens it in place
//! and brings it up to date from the intake log, which still has every event.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::shared::Shared;
use crate::error::Result;
use crate::intake::{self, Form, Segment};
use crate::store::Item;
use crate::{Envelope, layout, recovery};

/// Maximum number of events in one write to the store.
const STORE_BATCH: usize = 512;
/// A smaller store is not packed.
const PACK_BYTES: u64 = 6 * 1024 * 1024;
/// Time between two times that the store is packed while it is written to. Readers wait at its end, for up to a second.
const PACK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause between two attempts to reopen a failed store.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the memory that events take until they are stored.
pub(crate) fn bytes_of(items: &[Item]) -> u64 {
    let bytes = |item: &Item| (size_of::<Item>() + item.event.len() + item.payload.len()) as u64;
    items.iter().map(bytes).sum()
}

pub(crate) enum StoreJob {
    Items(Vec<Item>),
    Seal(Segment),
    /// Nothing was appended for a while.
    Rest,
    /// Reports that all jobs before it are done.
    Done(Box<dyn FnOnce() + Send>),
}

pub(super) struct StoreWriter {
    pub(super) shared: Arc<Shared>,
    pub(super) dir: PathBuf,
    pub(super) jobs: Receiver<StoreJob>,
    /// When the store failed, or could not be reopened, last.
    failed: Option<Instant>,
    /// A job that was received while events were gathered.
    next: Option<StoreJob>,
    /// When the store was packed last, and its size then.
    packed: (Instant, u64),
    /// Segments whose sealing a stop may have interrupted, the oldest last. They are sealed between other jobs.
    unsealed: Vec<Segment>,
}

impl StoreWriter {
    pub(super) fn new(shared: Arc<Shared>, dir: PathBuf, jobs: Receiver<StoreJob>) -> Self {
        let mut unsealed = intake::segments(&layout::intake_dir(&dir)).unwrap_or_default();
        // The last one is being written.
        unsealed.pop_if(|segment| segment.form == Form::Open);
        unsealed.retain(|segment| segment.form == Form::Open);
        unsealed.reverse();
        Self {
            packed: (Instant::now(), 0),
            unsealed,
            shared,
            dir,
            jobs,
            failed: None,
            next: None,
        }
    }

    pub(super) fn run(mut self) {
        loop {
            match self.receive() {
                Ok(StoreJob::Items(items)) => self.store_gathered(items),
                Ok(StoreJob::Seal(segment)) => self.seal(&segment),
                Ok(StoreJob::Rest) => {
                    self.write_tail();
                    self.pack();
                }
                Ok(StoreJob::Done(done)) => done(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let store = &self.shared.store;
                    if let Err(error) = store.empty_tail().and_then(|()| store.flush()) {
                        tracing::warn!(%error, "The store lacks events; the next start adds them.");
                    }
                    return;
                }
            }
            let mut failed = self.failed.iter();
            if failed.any(|since| since.elapsed() >= REOPEN_INTERVAL) {
                self.failed = self.reopen().is_err().then(Instant::now);
            }
        }
    }

    /// Waits for the next job, or until the store must be reopened.
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
        match self.failed {
            Some(since) => {
                let wait = REOPEN_INTERVAL.saturating_sub(since.elapsed());
                self.jobs.recv_timeout(wait)
            }
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
        let stored = shared.stored.lock();
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
        let stored = shared.stored.lock();
        shared.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
        drop(stored);
        shared.has_progressed();
        result.is_ok() && !has_failed
    }

    /// Makes stored events visible to readers and notifies the observer.
    fn publish(&self, items: Vec<Item>, last: u64) {
        let mut in_flight = self.shared.in_flight.lock();
        for item in &items {
            in_flight.remove(&item.envelope.id);
        }
        drop(in_flight);
        self.shared.stored.lock().seq = last;
        let envelopes: Vec<Envelope> = items.into_iter().map(|item| item.envelope).collect();
        self.shared.notify(&envelopes);
    }

    /// Reopens the store, brings it up to date from the intake log, and notifies the observer of events it has missed.
    fn reopen(&self) -> Result<()> {
        let shared = &self.shared;
        let last = shared.committed.load(Ordering::Acquire);
        let mut notes = Vec::new();
        shared.stored.lock().is_reopening = true;
        let reopened = shared.store.reopen(|| {
            let (store, recovered) = recovery::reopen(&self.dir, last)?;
            notes = recovered.notes;
            Ok(store)
        });
        let mut stored = shared.stored.lock();
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
            tracing::info!(last, "The store accepts events again.");
            shared.in_flight.lock().retain(|_, seq| *seq > last);
            let missed = shared.store.events_from(notified + 1).map_while(Result::ok);
            let missed = missed.take((last - notified) as usize);
            for envelope in missed {
                shared.notify(&[envelope]);
            }
        }
        shared.has_progressed();
        reopened
    }

    /// Packs the store if most of it is space that sled does not use and does not return.
    fn pack(&mut self) {
        let shared = &self.shared;
        let has_failed = self.failed.is_some() || shared.stored.lock().failure.is_some();
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

    /// Writes events to sled that were only in memory. Until the next append, the end of the log has two copies.
    fn write_tail(&mut self) {
        let store = &self.shared.store;
        let written = store.empty_tail().and_then(|()| store.flush());
        self.check(written);
    }

    /// Reopens the store if a write to it failed.
    fn check(&mut self, written: Result<()>) {
        if let Err(error) = written
            && self.failed.is_none()
        {
            tracing::warn!(%error, "Could not write to the store; reopening it.");
            self.failed = self.reopen().is_err().then(Instant::now);
        }
    }

    /// Seals a segment. From then on the store finds its events there.
    fn seal(&mut self, segment: &Segment) {
        // It may be queued twice.
        if !segment.path.exists() {
            return;
        }
        match intake::seal(segment) {
            Ok(()) => {
                let store = &self.shared.store;
                let released = store.release_sealed(segment.first_seq);
                self.check(released.and_then(|()| self.shared.store.flush()));
            }
            Err(error) => {
                tracing::warn!(%error, "Could not seal an intake segment.");
                self.write_tail();
            }
        }
        if self.packed.0.elapsed() >= PACK_INTERVAL {
            self.pack();
        }
    }
}
