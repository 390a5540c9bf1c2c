//! State that all actors share: the journal, the settings in force, and counters for `status`.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::policy::Exits;
use checkpoint::state::SessionState;
use journal::{Appended, Draft, Event, Home, Journal, Stream, named_file};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, oneshot};

use crate::bounded_io::{self, BoundedIo};
use crate::draft::{self, daemon_draft};
use crate::failed_commands::FailedCommands;
use crate::lost;
use crate::others::Others;
use crate::project::Project;
use crate::session_state;
use crate::spooled::Spooled;
use crate::trust::Trust;

/// Stops whose evidence is gathered at the same time; further ones wait.
const GATHERING_MAX: usize = 4;
/// Beginnings of turns that are examined at the same time. No caller waits for them, so they use no place of a stop.
const BEGINNINGS_MAX: usize = 2;
/// Work that takes longer waits for something else than the processor, and gives its place back.
const PLACE_HELD_MAX: Duration = Duration::from_secs(1);

/// Event counts since the daemon started, for `status`.
#[derive(Debug, Default)]
pub struct Counters {
    /// Hook payloads that could not be read.
    pub rejected: AtomicU64,
    /// Hook calls that were refused because of overload; their clients spool them.
    pub overloaded: AtomicU64,
    /// Hook calls taken from the spool.
    pub unspooled: AtomicU64,
    /// Hook calls that the journal already had.
    pub duplicates: AtomicU64,
    /// Session actors that died and were replayed.
    pub restarted: AtomicU64,
}

impl Counters {
    /// Adds one to a counter.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The journal, the settings and the limits that all actors share.
pub struct Shared {
    /// The journal that all actors append to.
    pub journal: Journal,
    /// Paths of the daemon's files.
    pub home: Home,
    /// Event counts for `status`.
    pub counters: Arc<Counters>,
    /// Permits for gathering evidence.
    pub gathering: Arc<Semaphore>,
    pub(crate) others: Others,
    beginnings: Semaphore,
    /// One large payload is read at a time: a reading takes several times its size.
    pub(crate) large: Semaphore,
    bounded_io: Arc<BoundedIo>,
    pub(crate) failed_commands: Arc<FailedCommands>,
    pub(crate) spool: Spooled,
    config: RwLock<Arc<Config>>,
    policies: Mutex<HashSet<u64>>,
}

impl Shared {
    /// Creates the shared state. Reads from the journal which policies it already has.
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
        draft::guard(&journal, &config.redactor);
        Ok(Self {
            journal,
            home,
            counters: Arc::default(),
            gathering: Arc::new(Semaphore::new(GATHERING_MAX)),
            others: Others::default(),
            beginnings: Semaphore::new(BEGINNINGS_MAX),
            large: Semaphore::new(1),
            bounded_io: Arc::default(),
            failed_commands: Arc::default(),
            spool: Spooled::default(),
            config: RwLock::new(Arc::new(config)),
            policies: Mutex::new(policies),
        })
    }

    /// Returns the current health issues, one line each; empty while everything works.
    pub fn health_issues(&self) -> Vec<String> {
        let mut issues = self.journal.health_issues();
        issues.extend(self.spool.issues());
        issues.extend(lost::line(&self.home));
        issues.extend(self.set_aside());
        issues.extend(self.bounded_io.issues());
        issues.extend(bounded_io::unseen());
        issues.extend(
            self.failed_commands
                .issues(&self.config().settings.listeners),
        );
        issues
    }

    /// Returns which files of our own folders, and of those below, were set aside, one line each.
    fn set_aside(&self) -> Vec<String> {
        let Home {
            run,
            spool,
            journal,
            logs,
            ..
        } = &self.home;
        let files = [run, spool, journal, logs].map(|folder| named_file::set_aside(folder));
        let told = files.concat();
        told.iter()
            .map(|path| {
                let path = path.display();
                format!("{path} was set aside: it was no regular file of yours. Remove it, or give it its name again once it is one")
            })
            .collect()
    }

    /// Returns the settings in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read())
    }

    /// Replaces the settings for everything that starts after this call.
    pub fn set_config(&self, config: Config) {
        draft::guard(&self.journal, &config.redactor);
        *self.config.write() = Arc::new(config);
    }

    /// Tells hook clients whether a tool call may have to wait (spec DECIDE-25). Without the mark, one that waits too long
    /// runs.
    pub fn mark_exits(&self) {
        let file = self.home.exits_file();
        let marked = match self.config().settings.hooks.exits {
            Exits::Off => fs::remove_file(file),
            Exits::Hold | Exits::Parts => {
                let mut options = fs::File::options();
                options.write(true).create(true);
                named_file::open_own(&file, &mut options).map(drop)
            }
        };
        match marked {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "Could not tell hook clients about `hooks.exits`.");
            }
            _ => {}
        }
    }

    /// Runs `work` once one of the places for gathering evidence is free (spec DECIDE-18).
    pub(crate) async fn in_place<T>(&self, work: impl Future<Output = T>) -> T {
        let place = Arc::clone(&self.gathering).acquire_owned().await;
        tokio::pin!(work);
        if let Ok(done) = tokio::time::timeout(PLACE_HELD_MAX, &mut work).await {
            return done;
        }
        drop(place);
        work.await
    }

    /// Runs `work` that no caller waits for.
    pub(crate) async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        let _place = self.beginnings.acquire().await;
        work.await
    }

    /// Runs `work`, which looks at `project`, on a blocking thread. Returns `None` if it does not end in time, hangs there
    /// already, or panics (spec DECIDE-22).
    pub(crate) async fn look_at<T: Send + 'static>(
        self: &Arc<Self>,
        project: &str,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let git_timeout = self.config().settings.evidence_limits.git_timeout.0;
        let shared = Arc::clone(self);
        let work = move || work(&shared);
        self.bounded_io.at(project, git_timeout, work).await
    }

    /// Returns which projects' own files the user trusts.
    pub fn trust(&self) -> Trust {
        Trust::of(&self.home)
    }

    /// Looks at the project in `folder` under the settings in force. Reads files, so it belongs on a blocking thread.
    pub fn project(&self, folder: &str) -> Project {
        Project::look(&self.config(), &self.trust(), folder)
    }

    /// Like [`Shared::project`], or `None` if the folder does not answer in a second.
    pub(crate) fn project_in_time(&self, folder: &str) -> Option<Project> {
        let (config, trust, at) = (self.config(), self.trust(), folder.to_owned());
        bounded_io::briefly(folder, move || Project::look(&config, &trust, &at))
    }

    /// Appends events and waits for the acknowledgment without blocking the thread.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub async fn append(&self, drafts: Vec<Draft>) -> journal::Result<Vec<Appended>> {
        told(|done| self.journal.append(drafts, done)).await
    }

    /// Returns once an event that was acknowledged is on disk.
    ///
    /// # Errors
    ///
    /// When writing to the disk fails.
    pub(crate) async fn synced(&self, seq: u64) -> journal::Result<()> {
        told(|done| self.journal.when_synced(seq, done)).await
    }

    /// Appends events and returns once they can be read.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`] and [`Journal::settle`].
    pub async fn append_and_settle(&self, drafts: Vec<Draft>) -> journal::Result<Vec<Appended>> {
        self.append_readable(drafts, true, |_| {}).await
    }

    /// Like [`Shared::append_and_settle`]. `acknowledged` is called as soon as the events are in the log. If an answer to them
    /// is journaled before it is sent, both are synced only then: one sync is enough.
    pub(crate) async fn append_readable(
        &self,
        drafts: Vec<Draft>,
        is_synced: bool,
        acknowledged: impl FnOnce(&[Appended]) + Send + 'static,
    ) -> journal::Result<Vec<Appended>> {
        told(|done| {
            let readable = self.journal.once_readable(done);
            let done = move |appended: journal::Result<Vec<Appended>>| {
                if let Ok(appended) = &appended {
                    acknowledged(appended);
                }
                readable(appended);
            };
            match is_synced {
                true => self.journal.append(drafts, done),
                false => self.journal.append_unsynced(drafts, done),
            }
        })
        .await
    }

    /// Returns once everything acknowledged so far is on disk.
    ///
    /// # Errors
    ///
    /// When writing to the disk fails.
    pub async fn sync(&self) -> journal::Result<()> {
        told(|done| self.journal.sync(done)).await
    }

    /// Returns once everything acknowledged so far can be read.
    ///
    /// # Errors
    ///
    /// As [`Journal::settle`].
    pub async fn settle(&self) -> journal::Result<()> {
        told(|done| {
            self.journal.when_settled(done);
            Ok(())
        })
        .await
    }

    /// Returns a policy's fingerprint, and the event that adds the policy to the journal if the journal lacks it.
    pub fn adopt(&self, policy: &Policy) -> (u64, Option<Draft>) {
        let (fingerprint, text) = policy.to_text();
        let known = self.policies.lock().contains(&fingerprint);
        let draft =
            (!known).then(|| daemon_draft(Event::PolicyAdopted { fingerprint, text }, fingerprint));
        (fingerprint, draft)
    }

    /// Records that the journal has a policy.
    pub fn adopted(&self, fingerprint: u64) {
        self.policies.lock().insert(fingerprint);
    }

    /// Reads a session's state: its snapshot and the events appended since. Ignores snapshots of another version.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn load(&self, stream: &Stream) -> journal::Result<SessionState> {
        session_state::load(&self.journal, stream)
    }

    /// Applies the events appended to a session since. Those that cannot be read are applied later.
    pub(crate) fn catch_up(&self, state: &mut SessionState) {
        if let Err(error) = session_state::catch_up(&self.journal, state) {
            tracing::error!(session = %state.session(), %error, "Could not read the session's events.");
        }
    }

    /// Journals what was found out about a session, and applies it to its state.
    pub(crate) async fn note(&self, state: &mut SessionState, found: Vec<Draft>) {
        if found.is_empty() {
            return;
        }
        if let Err(error) = self.append_and_settle(found).await {
            tracing::warn!(session = %state.session(), %error, "Could not journal what was found out about a session.");
        }
        self.catch_up(state);
    }
}

/// Waits for what a call of the journal tells when it is done.
async fn told<T: Send + 'static>(
    call: impl FnOnce(Box<dyn FnOnce(journal::Result<T>) + Send>) -> journal::Result<()>,
) -> journal::Result<T> {
    let (sender, receiver) = oneshot::channel();
    call(Box::new(move |result| drop(sender.send(result))))?;
    receiver.await.map_err(|_| journal::Error::Closed)?
}
