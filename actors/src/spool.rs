//! The spool: hook calls that found no daemon, or a busy one. Taken in oldest first, and removed only once they are on
//! the disk in the journal.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use actix::prelude::*;
use journal::frame::{Damage, Kind, Reader};
use journal::request::Received;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecursiveMode, Watcher};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::Shared;
use crate::hook_headers::HookHeaders;
use crate::ingest::{self, AcceptHook, Ingest, Refusal};
use crate::shared::Counters;

/// The folder is looked at this often even when nobody tells of a change.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// Ending of a whole spool file.
pub const ENDING: &str = "spool";

/// Left behind by a client that was killed while it wrote: nothing in it was acknowledged.
const UNFINISHED_AFTER: Duration = Duration::from_secs(3_600);
/// Written by a client that found the spool full; its length is the number of calls that were dropped.
const FULL: &str = ".full";

/// Takes in everything that is in the spool now. Returns how many calls that were. What cannot be read stays, is named in
/// `status`, and keeps nothing else from being taken.
///
/// # Errors
///
/// When the folder cannot be listed, or the journal takes no more; what is left stays in the spool.
pub async fn drain(shared: &Shared, ingest: &Addr<Ingest>) -> std::io::Result<u64> {
    let (mut taken, mut left) = (0, HashMap::new());
    let result = drain_all(shared, ingest, &mut taken, &mut left).await;
    let mut troubles: Vec<String> = left.into_values().collect();
    troubles.sort();
    troubles.extend(
        result
            .as_ref()
            .err()
            .map(|error| format!("the spool is not taken in: {error}")),
    );
    *shared
        .spool_issues
        .lock()
        .unwrap_or_else(PoisonError::into_inner) = troubles;
    result.map(|()| taken)
}

/// Why a file stays in the spool.
enum Left {
    /// The journal takes no more for now, so nothing else would be taken either.
    Overloaded,
    /// This one cannot be read: one sentence.
    Unread(String),
}

async fn drain_all(
    shared: &Shared,
    ingest: &Addr<Ingest>,
    taken: &mut u64,
    left: &mut HashMap<PathBuf, String>,
) -> std::io::Result<()> {
    loop {
        let mut files = list(&shared.home.spool)?;
        files.retain(|file| !left.contains_key(file));
        if files.is_empty() {
            tidy(shared).await;
            return Ok(());
        }
        let mut done = Vec::with_capacity(files.len());
        for file in files {
            match take_file(shared, ingest, &file).await {
                Ok(calls) => {
                    *taken += calls;
                    done.push(file);
                }
                Err(Left::Overloaded) => {
                    return Err(std::io::Error::other("the journal takes no more for now"));
                }
                Err(Left::Unread(why)) => {
                    left.insert(file, why);
                }
            }
        }
        // Tool events are acknowledged before their fsync, but a spooled call is safe already and must stay so.
        shared.sync().await.map_err(std::io::Error::other)?;
        for file in done {
            if let Err(error) = std::fs::remove_file(&file) {
                // It is journaled, and known when it comes again.
                let why = format!(
                    "{}: it is journaled and cannot be removed: {error}",
                    file.display()
                );
                left.insert(file, why);
            }
        }
    }
}

/// Removes what killed clients left behind, and journals how many calls a full spool has cost.
async fn tidy(shared: &Shared) {
    let full = shared.home.spool.join(FULL);
    if let Ok(meta) = std::fs::metadata(&full) {
        let problem = format!("the spool was full: {} hook calls were dropped", meta.len());
        if ingest::reject(shared, "spool", None, &[], Uuid::now_v7(), &problem)
            .await
            .is_ok()
        {
            let _ = std::fs::remove_file(full);
        }
    }
    let Ok(entries) = std::fs::read_dir(&shared.home.spool) else {
        return;
    };
    for entry in entries.flatten() {
        let unfinished = entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "tmp");
        let age = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|time| time.elapsed().ok());
        if unfinished && age.is_some_and(|age| age > UNFINISHED_AFTER) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Lists the whole files of the spool, oldest first: their names begin with their time.
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

async fn take_file(shared: &Shared, ingest: &Addr<Ingest>, file: &Path) -> Result<u64, Left> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Err(Left::Unread(format!(
                "{}: it cannot be read: {error}",
                file.display()
            )));
        }
    };
    let mut taken = 0;
    let mut newer = None;
    for item in Reader::new(&bytes) {
        let outcome = match item {
            Ok(frame) if frame.kind == Kind::Request => {
                take_request(shared, ingest, frame.payload).await
            }
            Ok(_) => continue,
            Err(Damage::Newer { version, .. }) => {
                newer = Some(version);
                continue;
            }
            Err(damage) => {
                let problem = format!("a spool file is damaged: {damage:?}");
                ingest::reject(shared, "spool", None, &bytes, id_of(&bytes), &problem).await
            }
        };
        match outcome {
            Ok(()) => taken += 1,
            Err(Refusal::Overloaded) => return Err(Left::Overloaded),
            Err(Refusal::Payload(_)) => {}
        }
    }
    newer.map_or(Ok(taken), |version| {
        let name = file.display();
        Err(Left::Unread(format!(
            "{name}: a newer client wrote it (format {version}): upgrade checkpointd"
        )))
    })
}

/// Returns the id of what has none: the same for the same bytes, which may come again.
fn id_of(bytes: &[u8]) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, bytes)
}

async fn take_request(shared: &Shared, ingest: &Addr<Ingest>, bytes: &[u8]) -> Result<(), Refusal> {
    let received = match Received::parse(bytes) {
        Ok(received) => received,
        Err(problem) => {
            ingest::reject(shared, "spool", None, bytes, id_of(bytes), problem).await?;
            return Err(Refusal::Payload(problem.into()));
        }
    };
    let headers = HookHeaders::read(received.agent, |name| received.header(name));
    let normal = ingest::read_call(shared, &headers, received.body).await?;
    let (outcome, taken) = oneshot::channel();
    ingest
        .send(AcceptHook {
            normal,
            waits: None,
            outcome,
        })
        .await
        .map_err(|_| Refusal::Overloaded)?;
    taken.await.map_err(|_| Refusal::Overloaded)??;
    Counters::count(&shared.counters.unspooled);
    Ok(())
}

/// Returns whether something changed. To read a file or to list a folder is an event too, and whoever answers that one
/// by reading again never comes to rest.
pub fn is_change(event: &notify::Event) -> bool {
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    event.need_rescan() || event.kind == written || !event.kind.is_access()
}

/// Watches the spool and takes in what appears, until the daemon ends. A watch that fails is made up for by sweeping.
pub async fn watch(shared: Arc<Shared>, ingest: Addr<Ingest>) {
    let changed = Arc::new(Notify::new());
    let wake = Arc::clone(&changed);
    let told = move |event: notify::Result<notify::Event>| {
        if event.is_err() || event.is_ok_and(|event| is_change(&event)) {
            wake.notify_one();
        }
    };
    let mut watcher = notify::recommended_watcher(told).ok();
    if let Some(watcher) = &mut watcher
        && let Err(error) = watcher.watch(&shared.home.spool, RecursiveMode::NonRecursive)
    {
        tracing::warn!(%error, "Could not watch the spool; it is swept every few seconds.");
    }
    loop {
        // At first too: a call may have been spooled after the look before this watch.
        match drain(&shared, &ingest).await {
            Ok(0) => {}
            Ok(calls) => tracing::info!(calls, "Took hook calls from the spool."),
            Err(error) => tracing::warn!(%error, "Could not empty the spool; it is tried again."),
        }
        let _ = tokio::time::timeout(SWEEP_EVERY, changed.notified()).await;
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind, RenameMode};

    use super::*;

    /// Answering a look by looking again kept a daemon busy for ever.
    #[test]
    fn looking_is_no_change() {
        let is = |kind| is_change(&notify::Event::new(kind));
        assert!(!is(EventKind::Access(AccessKind::Open(AccessMode::Any))));
        assert!(!is(EventKind::Access(AccessKind::Close(AccessMode::Read))));
        assert!(is(EventKind::Access(AccessKind::Close(AccessMode::Write))));
        assert!(is(EventKind::Create(CreateKind::File)));
        assert!(is(EventKind::Modify(ModifyKind::Name(RenameMode::To))));
    }
}
