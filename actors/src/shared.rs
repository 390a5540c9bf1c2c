//! What all actors share: the journal, the settings in force, and counters for `status`.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::state::SessionState;
use journal::{Appended, Draft, Event, Home, Journal, Stream};
use tokio::sync::{Semaphore, oneshot};

use crate::draft::daemon_draft;
use crate::session_state;

/// Stops whose evidence is gathered at the same time; more wait.
const GATHERING_MAX: usize = 4;

/// What has happened since the daemon came up, for `status`.
#[derive(Debug, Default)]
pub struct Counters {
    /// Payloads that could not be read.
    pub rejected: AtomicU64,
    /// Calls that were told to spool.
    pub overloaded: AtomicU64,
    /// Calls taken from the spool.
    pub unspooled: AtomicU64,
    /// Calls that were there already.
    pub duplicates: AtomicU64,
    /// Session actors that died and were started again.
    pub restarted: AtomicU64,
}

impl Counters {
    /// Adds one.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// What all actors share.
pub struct Shared {
    /// The journal.
    pub journal: Journal,
    /// Where things are.
    pub home: Home,
    /// Counters for `status`.
    pub counters: Counters,
    /// Room for gathering evidence.
    pub gathering: Arc<Semaphore>,
    /// What in the spool cannot be taken in, one line each.
    pub(crate) spool_troubles: Mutex<Vec<String>>,
    config: RwLock<Arc<Config>>,
    policies: Mutex<HashSet<u64>>,
}

impl Shared {
    /// Puts together what the actors share. Reads from the journal which policies are known to it.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn new(journal: Journal, home: Home, config: Config) -> journal::Result<Self> {
        let mut policies = HashSet::new();
        for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
            if let Event::PolicyAdopted { fingerprint, .. } = envelope.event {
                policies.insert(fingerprint);
            }
        }
        Ok(Self {
            journal,
            home,
            counters: Counters::default(),
            gathering: Arc::new(Semaphore::new(GATHERING_MAX)),
            spool_troubles: Mutex::default(),
            config: RwLock::new(Arc::new(config)),
            policies: Mutex::new(policies),
        })
    }

    /// Returns what does not work for now, one line each; empty while all is well.
    pub fn troubles(&self) -> Vec<String> {
        let mut troubles = self.journal.troubles();
        troubles.extend(
            self.spool_troubles
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .cloned(),
        );
        troubles
    }

    /// Returns the settings in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts new settings into force for everything that begins from now on.
    pub fn set_config(&self, config: Config) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    /// Appends and waits for the acknowledgement without blocking the thread.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub async fn append(&self, drafts: Vec<Draft>) -> journal::Result<Vec<Appended>> {
        let (sender, receiver) = oneshot::channel();
        self.journal
            .append(drafts, move |result| drop(sender.send(result)))?;
        receiver.await.map_err(|_| journal::Error::Closed)?
    }

    /// Appends, and returns once the events can be read.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`] and [`Journal::settle`].
    pub async fn append_and_settle(&self, drafts: Vec<Draft>) -> journal::Result<Vec<Appended>> {
        let appended = self.append(drafts).await?;
        self.settle().await?;
        Ok(appended)
    }

    /// Returns once everything acknowledged so far is on the disk.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub async fn sync(&self) -> journal::Result<()> {
        let (sender, receiver) = oneshot::channel();
        self.journal.sync(move |result| drop(sender.send(result)))?;
        receiver.await.map_err(|_| journal::Error::Closed)?
    }

    /// Returns once everything acknowledged so far can be read.
    ///
    /// # Errors
    ///
    /// As [`Journal::settle`].
    pub async fn settle(&self) -> journal::Result<()> {
        let journal = self.journal.clone();
        tokio::task::spawn_blocking(move || journal.settle())
            .await
            .map_err(|_| journal::Error::Closed)?
            .map(drop)
    }

    /// Returns the event that makes a policy known to the journal, if it is not known yet.
    pub fn adopt(&self, policy: &Policy) -> (u64, Option<Draft>) {
        let (fingerprint, text) = policy.to_text();
        let known = self
            .policies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&fingerprint);
        let draft = (!known).then(|| {
            daemon_draft(
                Event::PolicyAdopted { fingerprint, text },
                &fingerprint.to_string(),
            )
        });
        (fingerprint, draft)
    }

    /// Notes that a policy is in the journal.
    pub fn adopted(&self, fingerprint: u64) {
        self.policies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(fingerprint);
    }

    /// Reads a session's state: its snapshot, and what was appended since. Snapshots of another shape are passed over.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn load(&self, stream: &Stream) -> journal::Result<SessionState> {
        session_state::load(&self.journal, stream)
    }
}
