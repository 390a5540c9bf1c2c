//! The thread that moves durable events into the store.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use super::{FLUSH_EVERY, STORE_GROUP_MAX, Shared, bytes_of};
use crate::error::Error;
use crate::store::Item;
use crate::{Envelope, intake};

/// Work for the store's thread.
pub(super) enum Move {
    Items(Vec<Item>),
    Seal(PathBuf),
    /// Says that all before is done.
    Tell(Box<dyn FnOnce() + Send>),
}

/// The thread that moves durable events into the store, in order.
pub(super) fn move_to_store(shared: &Shared, moves: &Receiver<Move>) {
    let mut unflushed: Option<Instant> = None;
    let mut next = None;
    loop {
        let first = match (next.take(), unflushed) {
            (Some(ready), _) => Ok(ready),
            (None, None) => moves.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(since)) => moves.recv_timeout(FLUSH_EVERY.saturating_sub(since.elapsed())),
        };
        match first {
            Ok(Move::Items(mut items)) => {
                next = gather(moves, &mut items);
                if next.is_none() && items.len() < STORE_GROUP_MAX {
                    shared.linger();
                    next = gather(moves, &mut items);
                }
                store_items(shared, items);
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
        if unflushed.is_some_and(|since| since.elapsed() >= FLUSH_EVERY) {
            if let Err(error) = shared.store.flush() {
                tracing::warn!(%error, "Could not flush the store.");
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

fn store_items(shared: &Shared, items: Vec<Item>) {
    let Some(last) = items.last().map(|item| item.envelope.seq) else { return };
    let bytes = bytes_of(&items);
    let failed = shared.stored.lock().unwrap_or_else(PoisonError::into_inner).failure.is_some();
    // After a failure nothing more goes in: the next start brings the store up to date from the intake log, and a
    // store with a hole would be worse than one that is behind.
    let result = if failed { Err(Error::Closed) } else { shared.store.put(&items) };
    match result {
        Ok(()) => {
            let mut in_flight = shared.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
            for item in &items {
                in_flight.remove(&item.envelope.id);
            }
            drop(in_flight);
            shared.stored.lock().unwrap_or_else(PoisonError::into_inner).seq = last;
            let envelopes: Vec<Envelope> = items.into_iter().map(|item| item.envelope).collect();
            if let Some(observer) = &*shared.observer.read().unwrap_or_else(PoisonError::into_inner) {
                observer(&envelopes);
            }
        }
        Err(error) if !failed => {
            tracing::error!(%error, "The store takes no more events; they stay safe in the intake log.");
            shared.stored.lock().unwrap_or_else(PoisonError::into_inner).failure = Some(error);
        }
        Err(_) => {}
    }
    // Under the lock that those who wait hold while they look, or one of them might miss it.
    let stored = shared.stored.lock().unwrap_or_else(PoisonError::into_inner);
    shared.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
    drop(stored);
    shared.moved.notify_all();
}
