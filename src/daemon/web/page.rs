//! Shared state of the page: the journal's reader, the admitted tabs, and the journal's last
//! event.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::Shared;
use journal::Envelope;
use tokio::sync::{Semaphore, watch};

use super::access::AccessTokens;
use crate::ops::query::Reader;

/// The most concurrent walks over many events; further ones wait.
const WALKS_MAX: usize = 4;

/// The page, open or not.
pub(crate) struct Page {
    pub(super) shared: Arc<Shared>,
    pub(super) reader: Arc<Reader>,
    tokens: Mutex<AccessTokens>,
    /// The journal's last event.
    pub(super) grown: watch::Sender<u64>,
    pub(super) walks: Arc<Semaphore>,
}

impl Page {
    /// Creates a page that is not open.
    pub(crate) fn new(shared: Arc<Shared>, reader: Arc<Reader>) -> Arc<Self> {
        let grown = watch::Sender::new(shared.journal.last_seq());
        let walks = Arc::new(Semaphore::new(WALKS_MAX));
        Arc::new(Self {
            shared,
            reader,
            tokens: Mutex::default(),
            grown,
            walks,
        })
    }

    /// Reports new events. Never waits; a slow reader sees only the latest state.
    pub(crate) fn notify(&self, events: &[Envelope]) {
        if let Some(last) = events.last() {
            self.grown.send_replace(last.seq);
        }
    }

    pub(super) fn tokens(&self) -> MutexGuard<'_, AccessTokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
