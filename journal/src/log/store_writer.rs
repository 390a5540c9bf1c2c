//! Moving what is durable into the store: one thread does, in order. After a failure of the store it opens it again in
//! place and brings it up to date from the intake log, where nothing is lost meanwhile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::store::{Item, Store};
use crate::{Envelope, intake, recovery};

/// Bytes of committed events that may wait for the store; more make the writer wait. A burst is acknowledged at the
/// speed of the log, while a reader that needs all of it waits for about a second at most.
const STORE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The store is flushed at least this often while it is written to.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// How long the store leaves events that nobody asks for, so that it takes several at once, and not while the agent
/// that was just answered wants the processor.
const LINGER: Duration = Duration::from_millis(3);
/// Events that the store takes at once at most.
const STORE_GROUP_MAX: usize = 512;
/// Pause between two attempts to open a store that takes nothing more.
const MEND_EVERY: Duration = Duration::from_secs(1);

pub(crate) type Observer = Box<dyn Fn(&[Envelope]) + Send + std::marker::Sync>;

/// What the journal's threads and its readers share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    /// Ids that are durable but not in the store yet.
    pub(crate) in_flight: Mutex<HashMap<Uuid, u64>>,
    pub(crate) committed: AtomicU64,
    /// Bytes of committed events that the store has not taken yet.
    pub(crate) waiting_bytes: AtomicU64,
    pub(crate) stored: Mutex<Stored>,
    /// The store has moved on.
    moved: Condvar,
    /// Somebody waits for the store.
    wanted: Condvar,
    pub(crate) observer: RwLock<Option<Observer>>,
    /// Why the intake log takes nothing for now.
    pub(crate) trouble: Mutex<Option<Error>>,
}

/// How far the store is.
pub(crate) struct Stored {
    pub(crate) seq: u64,
    /// How many wait for it.
    waiting: usize,
    /// The store is closed, and about to be there again.
    pub(crate) is_reopening: bool,
    pub(crate) failure: Option<Error>,
}

impl Shared {
    /// Begins with a store that has all events up to `last`.
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
            moved: Condvar::new(),
            wanted: Condvar::new(),
            observer: RwLock::default(),
            trouble: Mutex::default(),
        }
    }

    /// Waits for the store, which makes haste while somebody does.
    pub(crate) fn wait_until(&self, is_so: impl Fn(&Stored) -> bool) -> MutexGuard<'_, Stored> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_so(&stored) {
            stored.waiting += 1;
            self.wanted.notify_one();
            stored = self
                .moved
                .wait_while(stored, |stored| !is_so(stored))
                .unwrap_or_else(PoisonError::into_inner);
            stored.waiting -= 1;
        }
        stored
    }

    /// Waits while the store is too far behind.
    pub(crate) fn wait_for_room(&self) {
        drop(self.wait_until(|_| self.waiting_bytes.load(Ordering::Acquire) <= STORE_BYTES_MAX));
    }

    /// Leaves the others the processor for a moment, unless one of them waits for the store.
    fn linger(&self) {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self
            .wanted
            .wait_timeout_while(stored, LINGER, |stored| stored.waiting == 0);
    }
}

pub(crate) fn bytes_of(items: &[Item]) -> u64 {
    items
        .iter()
        .map(|item| (item.event.len() + item.payload.len()) as u64)
        .sum()
}

/// Work for the store's thread.
pub(crate) enum Move {
    Items(Vec<Item>),
    Seal(PathBuf),
    /// Says that all before is done.
    Tell(Box<dyn FnOnce() + Send>),
}

/// The thread that moves durable events into the store, in order.
pub(crate) fn move_to_store(shared: &Shared, dir: &Path, moves: &Receiver<Move>) {
    let mut unflushed: Option<Instant> = None;
    let mut failed: Option<Instant> = None;
    let mut next = None;
    loop {
        let flush = unflushed.map(|since| FLUSH_EVERY.saturating_sub(since.elapsed()));
        let again = failed.map(|since| MEND_EVERY.saturating_sub(since.elapsed()));
        let first = match (next.take(), again.or(flush)) {
            (Some(ready), _) => Ok(ready),
            (None, None) => moves.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(wait)) => moves.recv_timeout(wait),
        };
        match first {
            Ok(Move::Items(mut items)) => {
                next = gather(moves, &mut items);
                if next.is_none() && items.len() < STORE_GROUP_MAX {
                    shared.linger();
                    next = gather(moves, &mut items);
                }
                if !store_items(shared, dir, items) {
                    failed = failed.or_else(|| Some(Instant::now()));
                }
                unflushed = unflushed.or_else(|| Some(Instant::now()));
            }
            Ok(Move::Seal(path)) => {
                // It may have been asked for twice.
                if path.exists()
                    && let Err(error) = intake::seal(&path)
                {
                    tracing::warn!(%error, "Could not seal an intake segment.");
                }
            }
            Ok(Move::Tell(done)) => done(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let _ = shared.store.flush();
                return;
            }
        }
        if failed.is_some_and(|since| since.elapsed() >= MEND_EVERY) {
            failed = mend(shared, dir).is_err().then(Instant::now);
        }
        if failed.is_none() && unflushed.is_some_and(|since| since.elapsed() >= FLUSH_EVERY) {
            if let Err(error) = shared.store.flush() {
                tracing::warn!(%error, "Could not flush the store. It is opened again.");
                failed = mend(shared, dir).is_err().then(Instant::now);
            }
            unflushed = None;
        }
    }
}

/// Adds what waits behind `items` to them. Returns what is to be done after them, where something else came.
fn gather(moves: &Receiver<Move>, items: &mut Vec<Item>) -> Option<Move> {
    while items.len() < STORE_GROUP_MAX {
        match moves.try_recv().ok()? {
            Move::Items(more) => items.extend(more),
            other => return Some(other),
        }
    }
    None
}

/// Stores events and tells of them. Returns false while the store takes none: they stay in the intake log, and come from
/// there when it does again. A store with a hole would be worse than one that is behind.
fn store_items(shared: &Shared, dir: &Path, mut items: Vec<Item>) -> bool {
    let bytes = bytes_of(&items);
    let stored = shared.stored.lock().unwrap_or_else(PoisonError::into_inner);
    let (has_failed, seq) = (stored.failure.is_some(), stored.seq);
    drop(stored);
    // What was brought up to date has some of them.
    items.retain(|item| item.envelope.seq > seq);
    let result = match (has_failed, items.last().map(|item| item.envelope.seq)) {
        (true, _) | (_, None) => Ok(()),
        (false, Some(last)) => shared.store.put(&items).map(|()| took(shared, items, last)),
    };
    let is_well = result.or_else(|error| {
        tracing::error!(%error, "The store takes no more events; they stay safe in the intake log. It is opened again.");
        mend(shared, dir)
    });
    // Under the lock that those who wait hold while they look, or one of them might miss it.
    let stored = shared.stored.lock().unwrap_or_else(PoisonError::into_inner);
    shared.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
    drop(stored);
    shared.moved.notify_all();
    is_well.is_ok() && !has_failed
}

/// Makes known what is in the store from now on.
fn took(shared: &Shared, items: Vec<Item>, last: u64) {
    let mut in_flight = shared
        .in_flight
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for item in &items {
        in_flight.remove(&item.envelope.id);
    }
    drop(in_flight);
    shared
        .stored
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .seq = last;
    let envelopes: Vec<Envelope> = items.into_iter().map(|item| item.envelope).collect();
    tell(shared, &envelopes);
}

fn tell(shared: &Shared, envelopes: &[Envelope]) {
    if let Some(observer) = &*shared
        .observer
        .read()
        .unwrap_or_else(PoisonError::into_inner)
    {
        observer(envelopes);
    }
}

/// Opens the store again, brings it up to date from the intake log, and tells of what nobody has been told of.
fn mend(shared: &Shared, dir: &Path) -> Result<()> {
    let last = shared.committed.load(Ordering::Acquire);
    let mut notes = Vec::new();
    shared
        .stored
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .is_reopening = true;
    let reopened = shared.store.reopen(|| {
        let (store, recovered) = recovery::reopen(dir, last)?;
        notes = recovered.notes;
        Ok(store)
    });
    let mut stored = shared.stored.lock().unwrap_or_else(PoisonError::into_inner);
    stored.is_reopening = false;
    stored.failure = reopened.as_ref().err().cloned();
    let told = stored.seq;
    if reopened.is_ok() {
        stored.seq = last;
    }
    drop(stored);
    for note in notes {
        tracing::warn!(note, "The store was opened again.");
    }
    if let Err(error) = &reopened {
        tracing::warn!(%error, "The store cannot be opened again yet.");
    } else {
        tracing::info!(last, "The store takes events again.");
        shared
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, seq| *seq > last);
        let untold = shared
            .store
            .events_from(told + 1)
            .map_while(Result::ok)
            .take((last - told) as usize);
        for envelope in untold {
            tell(shared, &[envelope]);
        }
    }
    shared.moved.notify_all();
    reopened
}
