//! The trees of the store, and every call into sled that may panic. The only file that names sled.
//!
//! sled's flush is no fsync, and a damaged log can panic inside it: an acknowledgment never rests on the store, it can
//! always be rebuilt from the intake log, and every open and write is guarded against panics.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::session_entry::{Outcome, SessionEntry};
use crate::error::{Doing, Error, Result};
use crate::{Envelope, Event, Verdict, named_file};

/// Size of the page cache. sled's default is a gigabyte; the journal is read in order and needs little.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// Values over a quarter of this would become separate files that sled never syncs.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;
/// How long to wait for sled's own lock. The journal's lock is taken first, so the owner can only be a store that this
/// process has just closed: sled's threads release it up to a second later.
const LOCK_WAIT: Duration = Duration::from_secs(2);
/// Pause between two attempts.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Entries copied between two flushes: with flushes, sled packs them closer.
const COPY_BATCH: u64 = 1_000;

/// A key or value as stored.
pub(crate) type Bytes = sled::IVec;
/// The result of calls that [`guarded`] runs.
pub(super) type RawResult<T> = sled::Result<T>;

/// Defines the trees by their names, the large ones first: the others reuse the space that they free while they are
/// written.
macro_rules! trees {
    ($($name:ident)*) => {
        /// The open database and its trees.
        pub(super) struct Trees {
            pub(super) db: sled::Db,
            $(pub(super) $name: sled::Tree,)*
        }

        impl Trees {
            pub(super) fn open(path: &Path) -> Result<Self> {
                let db = open_db(path)?;
                let tree = |name: &str| guarded("open a tree", || db.open_tree(name));
                Ok(Self {
                    $($name: tree(stringify!($name))?,)*
                    db,
                })
            }

            pub(super) fn all(&self) -> Vec<&sled::Tree> {
                vec![$(&self.$name),*]
            }
        }
    };
}

trees!(events payloads ids streams sessions unsettled decisions snapshots ids_sealed runs);

/// Runs calls into sled and turns a panic into an error.
pub(super) fn guarded<T>(doing: &'static str, body: impl FnOnce() -> sled::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::Store {
            doing,
            kind: kind_of(&error),
            text: error.to_string(),
        }),
        Err(_) => Err(Error::Store {
            doing,
            kind: ErrorKind::Other,
            text: "its files are damaged".into(),
        }),
    }
}

fn kind_of(error: &sled::Error) -> ErrorKind {
    match error {
        sled::Error::Io(error) => error.kind(),
        _ => ErrorKind::Other,
    }
}

/// Iterates over entries of a tree. An `Err` for `walk` becomes the only item.
pub(super) fn pairs<I>(
    doing: &'static str,
    walk: Result<I>,
) -> impl Iterator<Item = Result<(sled::IVec, sled::IVec)>> + use<I>
where
    I: Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>,
{
    let (mut walk, mut refused) = match walk {
        Ok(walk) => (Some(walk), None),
        Err(error) => (None, Some(Err(error))),
    };
    std::iter::from_fn(move || {
        refused.take().or_else(|| {
            let walk = walk.as_mut()?;
            guarded(doing, || walk.next().transpose()).transpose()
        })
    })
}

fn open_sled(path: &Path) -> sled::Result<sled::Db> {
    let db = sled::Config::new()
        .path(path)
        .cache_capacity(CACHE_BYTES)
        .segment_size(SEGMENT_BYTES)
        .flush_every_ms(None)
        .open()?;
    let _slack = Slack::set();
    // sled starts its threads when it first has work for them. This work may be done at any time, or not at all.
    let _ = pin!(db.flush_async()).poll(&mut Context::from_waker(Waker::noop()));
    Ok(db)
}

/// How late sled's threads may wake up from a wait that nothing ended.
#[cfg(target_os = "linux")]
const THREAD_SLACK: Duration = Duration::from_secs(600);

/// While it lives, threads that this thread starts wake up for a timeout only with [`THREAD_SLACK`].
///
/// sled's seven threads look for work once a second, for the life of the process, although new work wakes them at once.
/// A laptop's processor cannot sleep then. Threads inherit the slack of the thread that starts them.
struct Slack;

impl Slack {
    fn set() -> Self {
        #[cfg(target_os = "linux")]
        set_slack(THREAD_SLACK);
        Self
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        set_slack(Duration::ZERO);
    }
}

/// Sets the slack of this thread; zero restores the one that it started with.
#[cfg(target_os = "linux")]
fn set_slack(slack: Duration) {
    let nanoseconds = u64::try_from(slack.as_nanos()).unwrap_or_default();
    // If the system refuses it, sled's threads only wake up more often.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(nanoseconds));
}

/// Opens sled; waits for its lock.
fn open_db(path: &Path) -> Result<sled::Db> {
    let began = Instant::now();
    loop {
        let opened = guarded("open", || match open_sled(path) {
            Err(error) if is_lock(&error) => Ok(None),
            other => other.map(Some),
        })?;
        match opened {
            Some(db) => return Ok(db),
            None if began.elapsed() < LOCK_WAIT => std::thread::sleep(LOCK_PAUSE),
            None => {
                return Err(Error::Locked {
                    path: path.join("db"),
                });
            }
        }
    }
}

/// Waits until sled's threads have released a store that was just closed, up to a second later. Its files must not be
/// moved before.
///
/// # Errors
///
/// [`Error::Locked`] if it is still locked after [`LOCK_WAIT`].
pub(crate) fn wait_closed(path: &Path) -> Result<()> {
    let file = path.join("db");
    let held =
        named_file::open_own(&file, std::fs::File::options().read(true)).doing("open", &file)?;
    let began = Instant::now();
    while held.try_lock().is_err() {
        if began.elapsed() > LOCK_WAIT {
            return Err(Error::Locked { path: file });
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Ok(())
}

/// Returns whether an error means that sled's lock is taken. sled has no error kind for that, only this text.
fn is_lock(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().contains("could not acquire lock"))
}

pub(super) fn stream_key(session: Uuid, seq: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(session.as_bytes());
    key[16..].copy_from_slice(&seq.to_be_bytes());
    key
}

pub(super) fn seq_of(bytes: &[u8]) -> Result<u64> {
    let tail = bytes.last_chunk().ok_or_else(short)?;
    Ok(u64::from_be_bytes(*tail))
}

/// Returns the session that a key of `streams`, `runs` or `unsettled` begins with.
pub(super) fn session_of(key: &[u8]) -> Result<Uuid> {
    let head = key.first_chunk().ok_or_else(short)?;
    Ok(Uuid::from_bytes(*head))
}

fn short() -> Error {
    Error::damaged("the store", "a key is too short")
}

impl Trees {
    /// Copies all entries into an empty store, tree by tree, and checks their number. Entries written one after the other are
    /// packed together.
    pub(super) fn copy_to(&self, empty: &Self, mut progress: impl FnMut(u64)) -> Result<()> {
        let mut done = 0;
        for (from, to) in self.all().into_iter().zip(empty.all()) {
            let before = done;
            if std::ptr::eq(from, &self.runs) {
                done += self.merge_runs(empty)?;
                progress(done);
                continue;
            }
            for pair in pairs("read the store", Ok(from.iter())) {
                let (key, value) = pair?;
                guarded("write the store", || to.insert(key, value))?;
                done += 1;
                progress(done);
                if done.is_multiple_of(COPY_BATCH) {
                    guarded("flush", || empty.db.flush())?;
                }
            }
            guarded("flush", || empty.db.flush())?;
            if guarded("count", || Ok(to.len() as u64))? != done - before {
                return Err(Error::damaged("the packed store", "entries are missing"));
            }
        }
        Ok(())
    }

    /// Returns the ids of the events that the store itself holds.
    pub(super) fn ids(&self) -> Result<HashMap<Uuid, u64>> {
        let id = |(key, value): (sled::IVec, sled::IVec)| {
            let id = Uuid::from_slice(&key);
            let id = id.map_err(|_| Error::damaged("the store", "an id is too short"))?;
            Ok((id, seq_of(&value)?))
        };
        let entries = pairs("read ids", Ok(self.ids.iter()));
        entries.map(|pair| pair.and_then(id)).collect()
    }

    pub(super) fn entries(&self) -> Result<HashMap<Uuid, SessionEntry>> {
        let mut entries = HashMap::new();
        for pair in self.sessions.iter() {
            let (_, value) = guarded("read sessions", || pair)?;
            let entry: SessionEntry = serde_json::from_slice(&value)
                .map_err(|error| Error::damaged("the store", error.to_string()))?;
            entries.insert(entry.stream.session, entry);
        }
        Ok(entries)
    }

    /// Updates the list of promises: a stop, restart or checkpoint opens one, a later event settles it.
    pub(super) fn settle(&self, envelope: &Envelope) -> sled::Result<()> {
        let session = envelope.stream.session;
        let open = |seq: u64| {
            let key = stream_key(session, seq);
            self.unsettled.insert(key, &[]).map(drop)
        };
        let close = |seq: u64| self.unsettled.remove(stream_key(session, seq)).map(drop);
        let outcome = |seq: u64, outcome: Outcome| {
            let (key, value) = (seq.to_be_bytes(), &[outcome as u8]);
            self.decisions.insert(key, value).map(drop)
        };
        let ended = |decision: u64, how: Outcome| {
            close(decision)?;
            outcome(decision, how)
        };
        match &envelope.event {
            // If the hook does not wait for an answer, the agent has stopped already: a crash loses only a checkpoint.
            Event::AgentStopped {
                can_reply: true, ..
            }
            | Event::WorkLeaves { .. }
            | Event::RestartRequested { .. } => open(envelope.seq),
            Event::Decided(decision) => {
                close(decision.trigger)?;
                if decision.verdict == Verdict::Inject {
                    open(envelope.seq)?;
                    outcome(envelope.seq, Outcome::Pending)
                } else {
                    outcome(envelope.seq, Outcome::None)
                }
            }
            Event::RestartClosed { restart, .. } => close(*restart),
            Event::DeliveryConfirmed { decision, .. } => ended(*decision, Outcome::Confirmed),
            Event::DeliveryFailed { decision, .. } => ended(*decision, Outcome::Failed),
            Event::DeliveryExpired { decision, .. } => ended(*decision, Outcome::Expired),
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_threads_that_start_meanwhile_wake_up_late() {
        let current = || {
            let thread = std::fs::read_link("/proc/thread-self").expect("procfs");
            let id = thread.file_name().expect("the id of a thread");
            let slack = std::fs::read_to_string(Path::new("/proc").join(id).join("timerslack_ns"));
            slack
                .expect("a slack")
                .trim()
                .parse::<u128>()
                .expect("a number")
        };
        let of_a_new_thread = || std::thread::spawn(current).join().expect("a thread");
        let before = current();
        let slack = Slack::set();
        let started = of_a_new_thread();
        drop(slack);
        assert_eq!(started, THREAD_SLACK.as_nanos());
        assert_eq!([current(), of_a_new_thread()], [before; 2]);
    }
}
