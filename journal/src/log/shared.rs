//! What the journal's threads and its readers share: the store, its last event, and who waits for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use uuid::Uuid;

use crate::Envelope;
use crate::error::{Error, Result};
use crate::store::Store;

/// Bytes of committed events that may wait for the store; beyond that the committer waits. A burst is acknowledged at the
/// speed of the log, and a reader that needs all of it waits for about a second at most.
const STORE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long events wait to be stored when no reader asks for them: several are stored together, and the agent that was
/// just answered has the processor first.
const LINGER: Duration = Duration::from_millis(20);

pub(crate) type Settled = Box<dyn FnOnce(Result<()>) + Send>;
pub(crate) type Observer = Box<dyn Fn(&[Envelope]) + Send + std::marker::Sync>;

/// State shared by the journal's threads and its readers.
pub(crate) struct Shared {
    pub(crate) store: Store,
    /// Ids that are durable but not in the store yet.
    pub(crate) in_flight: Mutex<HashMap<Uuid, u64>>,
    /// Appends that wait for the committer.
    pub(crate) queued: AtomicUsize,
    /// The last acknowledged event.
    pub(crate) committed: AtomicU64,
    /// The last event that is known to be synced.
    pub(crate) synced: AtomicU64,
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

/// The last stored event, and who waits for later ones.
pub(crate) struct Stored {
    pub(crate) seq: u64,
    /// Number of threads that wait for the store.
    waiting: usize,
    /// Callbacks for when an event can be read, or certainly cannot.
    calls: Vec<(u64, Settled)>,
    /// Whether a thread calls callbacks at the moment, outside the lock.
    is_calling: bool,
    pub(crate) is_reopening: bool,
    pub(crate) failure: Option<Error>,
}

impl Stored {
    /// Returns whether a wanted event can be read, or certainly cannot for now.
    pub(crate) const fn is_known(&self, wanted: u64) -> bool {
        self.failure.is_some() || (self.seq >= wanted && !self.is_reopening)
    }

    /// Returns whether a callback waits for an event that is known by now.
    fn is_any_due(&self) -> bool {
        self.calls.iter().any(|(wanted, _)| self.is_known(*wanted))
    }

    /// Returns the last stored event, or why the store accepts no events.
    pub(crate) fn result(&self) -> Result<u64> {
        self.failure.clone().map_or(Ok(self.seq), Err)
    }
}

impl Shared {
    /// Starts with a store that has all events up to `last`.
    pub(crate) fn new(store: Store, last: u64) -> Self {
        Self {
            store,
            in_flight: Mutex::default(),
            queued: AtomicUsize::new(0),
            committed: AtomicU64::new(last),
            synced: AtomicU64::new(0),
            waiting_bytes: AtomicU64::new(0),
            stored: Mutex::new(Stored {
                seq: last,
                waiting: 0,
                calls: Vec::new(),
                is_calling: false,
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
        let mut stored = self.stored.lock();
        if !is_met(&stored) {
            stored.waiting += 1;
            self.wanted.notify_one();
            self.progressed
                .wait_while(&mut stored, |stored| !is_met(stored));
            stored.waiting -= 1;
        }
        stored
    }

    /// Calls `done` as soon as an event can be read, or certainly cannot for now, but after the callbacks that were given
    /// earlier and are due, too. The store does not linger meanwhile.
    pub(crate) fn when_known(&self, wanted: u64, done: Settled) {
        let mut stored = self.stored.lock();
        if stored.is_known(wanted) && !stored.is_calling && !stored.is_any_due() {
            let result = stored.result().map(drop);
            drop(stored);
            return done(result);
        }
        stored.calls.push((wanted, done));
        self.wanted.notify_one();
    }

    /// Tells those who wait that the state of the store has changed.
    pub(super) fn has_progressed(&self) {
        self.progressed.notify_all();
        let mut stored = self.stored.lock();
        while stored.is_any_due() {
            let calls = std::mem::take(&mut stored.calls);
            let calls = calls.into_iter();
            let (due, waiting): (Vec<_>, _) =
                calls.partition(|(wanted, _)| stored.is_known(*wanted));
            stored.calls = waiting;
            stored.is_calling = true;
            let result = stored.result().map(drop);
            drop(stored);
            due.into_iter().for_each(|(_, done)| done(result.clone()));
            stored = self.stored.lock();
            stored.is_calling = false;
        }
    }

    /// Returns whether an append would wait neither for room nor for the store to be reopened.
    pub(super) fn is_free(&self) -> bool {
        let stored = self.stored.lock();
        stored.failure.is_none()
            && !stored.is_reopening
            && self.waiting_bytes.load(Ordering::Acquire) <= STORE_BYTES_MAX
    }

    /// Waits while the store is too far behind.
    pub(crate) fn wait_for_room(&self) {
        drop(self.wait_until(|_| self.waiting_bytes.load(Ordering::Acquire) <= STORE_BYTES_MAX));
    }

    /// Yields the processor for a moment, unless a thread waits for the store.
    pub(super) fn linger(&self) {
        let is_unwanted = |stored: &mut Stored| stored.waiting == 0 && stored.calls.is_empty();
        self.wanted
            .wait_while_for(&mut self.stored.lock(), is_unwanted, LINGER);
    }

    pub(super) fn notify(&self, envelopes: &[Envelope]) {
        let observer = self.observer.read();
        if let Some(observer) = &*observer {
            observer(envelopes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use crate::{Journal, Options};

    #[test]
    fn callbacks_that_are_due_keep_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        let shared = &journal.inner.shared;
        let (sender, called) = channel();
        let call = |number: u32, wanted| {
            let sender = sender.clone();
            let done = move |_| sender.send(number).expect("awaited");
            shared.when_known(wanted, Box::new(done));
        };
        call(1, 1);
        call(2, 2);
        // The store has just stored the event, and has not reported it yet.
        shared.stored.lock().seq = 1;
        call(3, 1);
        called
            .try_recv()
            .expect_err("the first one is not told yet");
        shared.has_progressed();
        assert_eq!(called.try_iter().collect::<Vec<_>>(), [1, 3]);
        call(4, 1);
        assert_eq!(called.try_iter().collect::<Vec<_>>(), [4]);
        shared.stored.lock().seq = 2;
        shared.has_progressed();
        assert_eq!(called.try_iter().collect::<Vec<_>>(), [2]);
    }
}
