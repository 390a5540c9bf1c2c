//! What all actors share: the journal, the settings in force, and counters for `status`.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::state::{SNAPSHOT_VERSION, SessionState};
use journal::{Appended, Draft, Event, Home, Journal, Stream, Timestamp};
use tokio::sync::{Semaphore, oneshot};
use uuid::Uuid;

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
        load(&self.journal, stream)
    }
}

/// A state that took more events than this to bring up is worth a snapshot.
const SNAPSHOT_AFTER: usize = 32;
/// Events that are read at once while a session catches up.
const PAGE: usize = 1024;

/// Reads a session's state from a journal.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn load(journal: &Journal, stream: &Stream) -> journal::Result<SessionState> {
    let snapshot = journal
        .snapshot(stream.session)?
        .and_then(|(_, bytes)| unpack(&bytes));
    let mut state = snapshot.unwrap_or_else(|| SessionState::new(stream.clone()));
    // Whoever asks next need not fold all that again. A snapshot that cannot be kept costs only that.
    if catch_up(journal, &mut state)? > SNAPSHOT_AFTER {
        let _ = save(journal, &state);
    }
    Ok(state)
}

/// Applies what was appended to a session since its state was last brought up to date. Returns how many events that were.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn catch_up(journal: &Journal, state: &mut SessionState) -> journal::Result<usize> {
    let mut applied = 0;
    loop {
        let page = journal.stream(state.session(), state.last_seq, PAGE)?;
        page.iter().for_each(|envelope| state.apply(envelope));
        applied += page.len();
        if page.len() < PAGE {
            return Ok(applied);
        }
    }
}

/// Keeps a snapshot of a session.
///
/// # Errors
///
/// When the journal cannot be written.
pub fn save(journal: &Journal, state: &SessionState) -> journal::Result<()> {
    let mut bytes = SNAPSHOT_VERSION.to_le_bytes().to_vec();
    bytes.extend(journal::codec::pack(state));
    journal.put_snapshot(state.session(), state.last_seq, &bytes)
}

fn unpack(bytes: &[u8]) -> Option<SessionState> {
    let (version, rest) = bytes.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*version) == SNAPSHOT_VERSION).then(|| journal::codec::unpack(rest))?
}

/// Returns an event of the daemon itself, with an id made from `name`.
pub fn daemon_draft(event: Event, name: &str) -> Draft {
    let stream = Stream::daemon();
    let id = Uuid::new_v5(
        &stream.session,
        format!("{}:{name}", event.kind()).as_bytes(),
    );
    Draft {
        stream,
        at: Timestamp::now(),
        id,
        event,
        payload: None,
    }
}

/// Returns an event that follows from another one. Its id is made from both, so that it can only be appended once.
pub fn derived(stream: &Stream, at: Timestamp, event: Event, cause: &str) -> Draft {
    let id = Uuid::new_v5(
        &stream.session,
        format!("{}:{cause}", event.kind()).as_bytes(),
    );
    Draft {
        stream: stream.clone(),
        at,
        id,
        event,
        payload: None,
    }
}
