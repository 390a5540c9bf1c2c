//! Shared state of the page: the journal's reader, the admitted tabs, and the journal's last
//! event.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::Shared;
use journal::Envelope;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Semaphore, watch};

use super::access::AccessTokens;
use super::saved::{self, Saved};
use crate::ops::query::Reader;

/// The most concurrent walks over many events; further ones wait.
const WALKS_MAX: usize = 4;

/// The shortest time between two notes that a tab is open.
const HEARD_EVERY: Duration = Duration::from_secs(10);

pub(crate) struct Page {
    pub(super) shared: Arc<Shared>,
    pub(super) reader: Arc<Reader>,
    tokens: Mutex<AccessTokens>,
    /// The journal's last event.
    pub(super) grown: watch::Sender<u64>,
    pub(super) walks: Arc<Semaphore>,
    /// The port, while the page is open.
    port: Mutex<Option<u16>>,
    heard: Mutex<Option<Instant>>,
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
            port: Mutex::default(),
            heard: Mutex::default(),
        })
    }

    /// Records the port of the page, or that it is closed.
    pub(super) fn is_on(&self, port: Option<u16>) {
        *self.port.lock() = port;
    }

    /// Keeps what lets the open tabs come back after a restart.
    pub(super) fn keep(&self) {
        let tabs = self.tokens().tabs();
        if let Some(port) = *self.port.lock() {
            saved::keep(&self.shared.home.run, &Saved { port, tabs });
        }
    }

    /// Notes now and then that a tab is open.
    pub(super) fn hears(&self) {
        let mut heard = self.heard.lock();
        if heard.is_none_or(|heard| heard.elapsed() > HEARD_EVERY) {
            *heard = Some(Instant::now());
            saved::heard(&self.shared.home.run);
        }
    }

    /// Reports new events. Never waits; a slow reader sees only the latest state.
    pub(crate) fn notify(&self, events: &[Envelope]) {
        if let Some(last) = events.last() {
            self.grown.send_replace(last.seq);
        }
    }

    pub(super) fn tokens(&self) -> MutexGuard<'_, AccessTokens> {
        self.tokens.lock()
    }
}
