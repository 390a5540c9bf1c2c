//! The spool: hook calls that clients kept in files because the daemon was down or overloaded. The daemon accepts them
//! oldest first, and removes a file only once its calls are on disk in the journal (spec JRNL-12).

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use actix::prelude::*;
use checkpoint::config::Config;
use checkpoint::hooks::Normal;
use journal::Timestamp;
use journal::frame::{self, Damage, Frame, Kind, Reader};
use journal::request::Received;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecursiveMode, Watcher};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::Shared;
use crate::hook_headers::HookHeaders;
use crate::ingest::{self, AcceptHook, Ingest, Refusal, Rejected};
use crate::lost;
use crate::named_file;
use crate::shared::Counters;

/// How soon a pass that left calls in the spool is repeated; the pause doubles each time until the folder changes.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often the folder is read while it is not watched.
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// How often a watched folder is read without a notification of a change.
const SWEEP_WATCHED_EVERY: Duration = Duration::from_secs(60);
/// A folder that changed less than this before it was read may have changed again with the same time: file systems count
/// in steps of up to two seconds.
const TIME_STEP: Duration = Duration::from_secs(2);
/// How long a pass continues for calls that come while the spool is emptied. Clients that wait for the daemon to be
/// ready spool faster than a busy machine imports, and would keep it from ever being ready.
const FOLLOW_WITHIN: Duration = Duration::from_millis(500);
/// Extension of a complete spool file.
pub const ENDING: &str = "spool";

/// Age at which a temporary file is one of a client that was killed while it wrote.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// The size of one call and its frame.
const FILE_BYTES_MAX: u64 = (frame::HEADER_BYTES + frame::PAYLOAD_BYTES_MAX) as u64;
/// Written by clients that found the spool full.
const FULL: &str = ".full";

/// Accepts the calls in the spool that were made before one that comes directly, made at `at`. Returns false if some are
/// left at `until`, or the journal is overloaded: the call then belongs in the spool, too.
pub async fn catch_up(
    shared: &Shared,
    ingest: &Addr<Ingest>,
    at: Timestamp,
    until: Instant,
) -> bool {
    // The name of a file begins with the time of its call.
    let before = format!("{:020}", at.as_micros());
    let is_older = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| *name < *before) && !shared.spool.left.lock().contains_key(file)
    };
    loop {
        match list(&shared.home.spool) {
            Ok(files) if files.iter().any(is_older) => {}
            _ => return true,
        }
        if Instant::now() > until || drain(shared, ingest).await.is_err() {
            return false;
        }
    }
}

/// Accepts all calls that are in the spool now, and those that come meanwhile within half a second; returns their
/// number. A file that cannot be read stays, becomes a health issue, and does not keep other files from being accepted.
///
/// # Errors
///
/// If the folder cannot be listed or the journal is overloaded. The remaining calls stay in the spool.
pub async fn drain(shared: &Shared, ingest: &Addr<Ingest>) -> std::io::Result<u64> {
    let _pass = shared.spool.pass.lock().await;
    let mut pass = Pass {
        shared,
        ingest,
        accepted: 0,
        left: HashMap::new(),
    };
    let result = pass.drain().await;
    *shared.spool.left.lock() = pass.left;
    *shared.spool.error.lock() = result
        .as_ref()
        .err()
        .map(|error| format!("spooled calls are not accepted: {error}"));
    result.map(|()| pass.accepted)
}

struct Pass<'a> {
    shared: &'a Shared,
    ingest: &'a Addr<Ingest>,
    accepted: u64,
    /// Files that stay, and why: one sentence each.
    left: HashMap<PathBuf, String>,
}

/// No other file would be taken either.
fn overloaded<E>(_: E) -> std::io::Error {
    std::io::Error::other("the journal is overloaded")
}

impl Pass<'_> {
    /// Accepts files until no more can be accepted, or later ones have to wait.
    async fn drain(&mut self) -> std::io::Result<()> {
        let began = Instant::now();
        let mut is_first = true;
        let is_enough = |is_first: bool| !is_first && began.elapsed() > FOLLOW_WITHIN;
        loop {
            let mut files = list(&self.shared.home.spool)?;
            files.retain(|file| !self.left.contains_key(file));
            if files.is_empty() || is_enough(is_first) {
                self.clean_up();
                return self.tell_lost().await;
            }
            let mut done = Vec::with_capacity(files.len());
            for file in files {
                if is_enough(is_first) {
                    break;
                }
                match self.accept_file(&file).await? {
                    Ok(calls) => {
                        self.accepted += calls;
                        done.push(file);
                    }
                    Err(why) => drop(self.left.insert(file, why)),
                }
            }
            // Tool events are acknowledged before their fsync, but a spooled call is safe already and must stay so.
            self.shared.sync().await.map_err(std::io::Error::other)?;
            for file in done {
                if let Err(error) = std::fs::remove_file(&file) {
                    // Accepting the file again is harmless: its calls are duplicates then.
                    let name = file.display();
                    let why = format!("{name} is journaled but cannot be removed: {error}");
                    self.left.insert(file, why);
                }
            }
            is_first = false;
        }
    }

    /// Accepts the calls of a file and returns their number, or why it cannot be read.
    async fn accept_file(&self, file: &Path) -> std::io::Result<Result<u64, String>> {
        let name = file.display();
        let path = file.to_owned();
        let config = self.shared.config();
        // Reading, parsing and redacting take long for a large file, and this thread serves all other calls.
        let read = ingest::on_blocking_thread(move || {
            let bytes = named_file::own(&path, FILE_BYTES_MAX)?;
            Ok::<_, std::io::Error>(read_file(&config, &bytes))
        });
        let calls = match read.await.map_err(overloaded)? {
            Ok(calls) => calls,
            Err(error) => return Ok(Err(format!("cannot read {name}: {error}"))),
        };
        let mut accepted = 0;
        let mut newer = None;
        for call in calls {
            let outcome = match call {
                Call::Read(normal) => self.accept_call(*normal).await,
                Call::Rejected(rejected) => ingest::reject(self.shared, *rejected).await.map(drop),
                Call::Newer(version) => {
                    newer = Some(version);
                    continue;
                }
            };
            outcome.map_err(overloaded)?;
            accepted += 1;
        }
        let newer = newer.map(|version| {
            format!("a newer client wrote {name} (format {version}): upgrade checkpointd")
        });
        Ok(newer.map_or(Ok(accepted), Err))
    }

    async fn accept_call(&self, normal: Normal) -> Result<(), Refusal> {
        let (outcome, accepted) = oneshot::channel();
        self.ingest
            .send(AcceptHook {
                normal,
                waits: None,
                outcome,
            })
            .await
            .map_err(|_| Refusal::Overloaded)?;
        accepted.await.map_err(|_| Refusal::Overloaded)??;
        Counters::count(&self.shared.counters.unspooled);
        Ok(())
    }

    /// Journals how many calls were lost, once there is space.
    async fn tell_lost(&self) -> std::io::Result<()> {
        let home = &self.shared.home;
        let mut told = 0;
        // Others may be lost meanwhile.
        while let count = lost::lost(home)
            && count > told
            && lost::has_room(home)
        {
            let problem = lost::text(count - told);
            let config = self.shared.config();
            let rejected = Rejected::new(&config, "spool", None, &[], Uuid::now_v7(), &problem);
            ingest::reject(self.shared, rejected)
                .await
                .map_err(|_| std::io::Error::other("the journal takes no events"))?;
            told = count;
        }
        if told > 0 {
            File::options()
                .write(true)
                .open(home.lost_file())?
                .set_len(0)?;
            lost::reserve(home);
        }
        Ok(())
    }

    /// Takes over whole files that killed clients left behind, and removes other ones.
    fn clean_up(&self) {
        let spool = &self.shared.home.spool;
        let _ = std::fs::remove_file(spool.join(FULL));
        let Ok(entries) = std::fs::read_dir(spool) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_unfinished = path.extension().is_some_and(|ending| ending == "tmp");
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let age = modified.ok().and_then(|time| time.elapsed().ok());
            if is_unfinished && age.is_some_and(|age| age > ABANDONED_AFTER) {
                settle_abandoned(&path);
            }
        }
    }
}

/// Gives a whole file its final name, so that the next pass accepts it, and removes a partial one.
fn settle_abandoned(path: &Path) {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let name = stem.map(|stem| stem.trim_start_matches('.'));
    let _ = match name
        .filter(|_| named_file::own(path, FILE_BYTES_MAX).is_ok_and(|bytes| is_whole(&bytes)))
    {
        Some(name) => std::fs::rename(path, path.with_file_name(name)),
        None => std::fs::remove_file(path),
    };
}

/// Returns whether bytes are frames to their end, maybe those of a newer client.
fn is_whole(bytes: &[u8]) -> bool {
    let is_frame = |item| matches!(item, Ok(_) | Err(Damage::Newer { .. }));
    !bytes.is_empty() && Reader::new(bytes).all(is_frame)
}

/// What a frame of a spool file holds.
enum Call {
    Read(Box<Normal>),
    /// Journaled as rejected.
    Rejected(Box<Rejected>),
    /// Written by a newer client, in this format.
    Newer(u8),
}

fn read_file(config: &Config, bytes: &[u8]) -> Vec<Call> {
    let mut is_damage_told = false;
    let frame = |item| match item {
        Ok(Frame {
            kind: Kind::Request,
            payload,
            ..
        }) => Some(read_frame(config, payload)),
        Ok(_) => None,
        Err(Damage::Newer { version, .. }) => Some(Call::Newer(version)),
        // All of the file is kept as what was rejected, so once is enough.
        Err(_) if is_damage_told => None,
        Err(damage) => {
            is_damage_told = true;
            let problem = format!("a spool file is damaged: {damage:?}");
            Some(refused(config, bytes, &problem))
        }
    };
    Reader::new(bytes).filter_map(frame).collect()
}

fn read_frame(config: &Config, bytes: &[u8]) -> Call {
    match Received::parse(bytes) {
        Ok(received) => {
            let headers = HookHeaders::read(received.agent, |name| received.header(name));
            match ingest::read(config, &headers, received.body) {
                Ok(normal) => Call::Read(Box::new(normal)),
                Err(rejected) => Call::Rejected(rejected),
            }
        }
        Err(problem) => refused(config, bytes, problem),
    }
}

fn refused(config: &Config, bytes: &[u8], problem: &str) -> Call {
    // A file that cannot be removed is accepted again, with the same id.
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, bytes);
    let rejected = Rejected::new(config, "spool", None, bytes, id, problem);
    Call::Rejected(Box::new(rejected))
}

/// Lists the complete files of the spool, oldest first: their names begin with their time.
///
/// # Errors
///
/// If the folder cannot be listed; a missing folder is an empty spool.
pub fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    files.sort();
    Ok(files)
}

/// Returns whether a file or a folder changed. Reading a file or listing a folder is an event too: reacting to it by
/// reading again would never end.
pub fn is_change(event: &notify::Event) -> bool {
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    event.need_rescan() || event.kind == written || !event.kind.is_access()
}

/// Watches the spool and accepts new calls, until the daemon ends. Reading the folder now and then makes up for a watch
/// that fails.
pub async fn watch(shared: Arc<Shared>, ingest: Addr<Ingest>) {
    let changed = Arc::new(Notify::new());
    let wake = Arc::clone(&changed);
    let on_event = move |event: notify::Result<notify::Event>| {
        if event.is_err() || event.is_ok_and(|event| is_change(&event)) {
            wake.notify_one();
        }
    };
    let watcher = notify::recommended_watcher(on_event).and_then(|mut watcher| {
        watcher.watch(&shared.home.spool, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    if let Err(error) = &watcher {
        tracing::warn!(%error, "Could not watch the spool; reading it every few seconds.");
    }
    let mut retry = RETRY_AFTER;
    loop {
        let known = Known::before_pass(&shared.home.spool);
        // Also before the first event: a call may have been spooled before the watch began.
        let drained = drain(&shared, &ingest).await;
        match &drained {
            Ok(0) => {}
            Ok(calls) => tracing::info!(calls, "Accepted spooled hook calls."),
            Err(error) => tracing::warn!(%error, "Could not empty the spool; retrying."),
        }
        let sweep = match &watcher {
            Ok(_) => SWEEP_WATCHED_EVERY,
            Err(_) => SWEEP_EVERY,
        };
        let is_done = drained.is_ok() && shared.spool.left.lock().is_empty();
        let pause = if is_done { sweep } else { retry.min(sweep) };
        let known = known.filter(|known| is_done && watcher.is_ok() && known.is_empty());
        let is_told = || tokio::time::timeout(pause, changed.notified());
        retry = loop {
            match is_told().await {
                Ok(()) => break RETRY_AFTER,
                Err(_)
                    if known.as_ref().is_some_and(Known::is_current)
                        && lost::lost(&shared.home) == 0 => {}
                Err(_) if is_done => break RETRY_AFTER,
                Err(_) => break pause * 2,
            }
        };
    }
}

/// The spool as a pass found it. Reading the folder wakes this daemon's watchers, asking for its time does not.
struct Known {
    folder: PathBuf,
    modified: SystemTime,
}

impl Known {
    /// Returns the state before a pass, or `None` if its time cannot show every later change.
    fn before_pass(folder: &Path) -> Option<Self> {
        let modified = std::fs::metadata(folder).ok()?.modified().ok()?;
        let age = modified.elapsed().ok()?;
        (age > TIME_STEP).then(|| Self {
            folder: folder.to_owned(),
            modified,
        })
    }

    /// Returns whether the folder has no entries, so that only a new one can be work for a pass.
    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Returns whether no entry came or went since then.
    fn is_current(&self) -> bool {
        let modified = std::fs::metadata(&self.folder).and_then(|meta| meta.modified());
        modified.is_ok_and(|modified| modified == self.modified)
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind, RenameMode};

    use super::*;

    #[test]
    fn an_empty_spool_is_known_until_its_time_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let changed_ago = |age| {
            let time = SystemTime::now() - age;
            let opened = std::fs::File::open(folder.path()).expect("a folder");
            opened.set_modified(time).expect("its owner may");
        };
        assert!(Known::before_pass(folder.path()).is_none(), "too young");
        changed_ago(TIME_STEP * 5);
        let known = Known::before_pass(folder.path()).expect("an old folder");
        assert!(known.is_empty() && known.is_current());
        std::fs::write(folder.path().join("1.spool"), "").expect("a file");
        assert!(!known.is_empty() && !known.is_current());
    }

    /// A daemon that reacted to its own reading was busy forever.
    #[test]
    fn reading_is_not_a_change() {
        let is = |kind| is_change(&notify::Event::new(kind));
        assert!(!is(EventKind::Access(AccessKind::Open(AccessMode::Any))));
        assert!(!is(EventKind::Access(AccessKind::Close(AccessMode::Read))));
        assert!(is(EventKind::Access(AccessKind::Close(AccessMode::Write))));
        assert!(is(EventKind::Create(CreateKind::File)));
        assert!(is(EventKind::Modify(ModifyKind::Name(RenameMode::To))));
    }
}
