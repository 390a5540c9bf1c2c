//! What pages share: the journal's reader, who may look, and how far the journal has grown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::Shared;
use journal::Envelope;
use tokio::sync::{Semaphore, watch};

use super::access::AccessTokens;
use crate::ops::query::Reader;

/// Walks over many events that may go on at once; more wait their turn.
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
    /// Makes one that is not open.
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

    /// Notes that the journal has grown. Never waits; who looks too rarely sees only the last state.
    pub(crate) fn notify(&self, events: &[Envelope]) {
        if let Some(last) = events.last() {
            self.grown.send_replace(last.seq);
        }
    }

    pub(super) fn tokens(&self) -> MutexGuard<'_, AccessTokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
