//! Examining what an agent or a user names: a project, a repository, a transcript. A file system that does not answer,
//! or a program that cannot be killed, holds a thread for as long as it likes. It must hold nothing else: not the slot
//! of other projects' stops, and not the stop that waits (spec DECIDE-22).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time beyond git's own limit for everything that is examined besides git.
const SPARE: Duration = Duration::from_secs(5);

/// Time for what a view shows beside the journal, for each project.
const BRIEFLY: Duration = Duration::from_secs(1);

/// What views examine. It is separate from what stops examine: a project that is only slow loses no checkpoint because
/// a person opened the page.
static VIEWS: LazyLock<Arc<BoundedIo>> = LazyLock::new(Arc::default);

/// Runs `work`, which looks at `project`, on a thread of its own. Returns `None` if it takes longer than a second, if
/// earlier work of this kind hangs there, or if it panics. Blocks until then.
pub fn briefly<T: Send + 'static>(
    project: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let entry = Entry::new(&VIEWS, project)?;
    let number = entry.number;
    let (done, result) = mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("view".into());
    let started = thread.spawn(move || {
        let _entry = entry;
        let _ = done.send(work());
    });
    started.ok()?;
    match result.recv_timeout(BRIEFLY) {
        Ok(found) => Some(found),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => {
            tracing::warn!(project, "A project was skipped: it does not answer.");
            VIEWS.hangs(number);
            None
        }
    }
}

/// Returns whether the file system of a project answers in time.
pub fn answers(project: &str) -> bool {
    let folder = PathBuf::from(project);
    let look = move || {
        let _ = std::fs::symlink_metadata(folder.join(".git"));
        let _ = std::fs::read_dir(folder).map(|mut names| names.next());
    };
    briefly(project, look).is_some()
}

/// Returns one line for each project that views skip.
pub(crate) fn unseen() -> Vec<String> {
    VIEWS.lines(
        "until it does, it has no progress documents, and the page and `top` show it as `unseen`",
    )
}

#[derive(Debug)]
struct Work {
    project: String,
    began: Instant,
    /// The caller no longer waits for it.
    is_hung: bool,
}

/// All work that has not ended.
#[derive(Debug, Default)]
pub(crate) struct BoundedIo {
    running: Mutex<BTreeMap<u64, Work>>,
    next: AtomicU64,
}

impl BoundedIo {
    /// Runs `work`, which looks at `project`, on a blocking thread. Returns `None` if it takes longer than git may take and
    /// a few seconds more, if earlier work on the same project hangs, or if it panics.
    pub(crate) async fn at<T: Send + 'static>(
        self: &Arc<Self>,
        project: &str,
        git_timeout: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let entry = Entry::new(self, project)?;
        let number = entry.number;
        let running = tokio::task::spawn_blocking(move || {
            // Leaves the list when the work ends, also where it panics.
            let _entry = entry;
            work()
        });
        match tokio::time::timeout(git_timeout + SPARE, running).await {
            Ok(done) => done
                .inspect_err(
                    |error| tracing::error!(project, %error, "Examining a project failed."),
                )
                .ok(),
            Err(_) => {
                tracing::error!(project, "Examining a project does not end.");
                self.hangs(number);
                None
            }
        }
    }

    /// Notes that the caller no longer waits for a piece of work. The work may have ended
    /// meanwhile.
    fn hangs(&self, number: u64) {
        if let Some(work) = self.running.lock().get_mut(&number) {
            work.is_hung = true;
        }
    }

    /// Returns one line for each project where work for stops hangs.
    pub(crate) fn issues(&self) -> Vec<String> {
        self.lines("until it does, stops there pass")
    }

    fn lines(&self, consequence: &str) -> Vec<String> {
        let running = self.running.lock();
        let mut longest: BTreeMap<&str, u64> = BTreeMap::new();
        for work in running.values().filter(|work| work.is_hung) {
            let known = longest.entry(&work.project).or_default();
            *known = (*known).max(work.began.elapsed().as_secs());
        }
        let line = |(project, seconds): (&str, u64)| {
            format!(
                "examining {project} has not ended for {seconds} s; its file system or git may not answer: {consequence}"
            )
        };
        longest.into_iter().map(line).collect()
    }
}

/// The place of a piece of work in the list.
struct Entry {
    bounded_io: Arc<BoundedIo>,
    number: u64,
}

impl Entry {
    /// Enters work, unless some on the same project hangs: each further piece would hold one more thread.
    fn new(bounded_io: &Arc<BoundedIo>, project: &str) -> Option<Self> {
        let mut running = bounded_io.running.lock();
        if running
            .values()
            .any(|work| work.is_hung && work.project == project)
        {
            return None;
        }
        let number = bounded_io.next.fetch_add(1, Ordering::Relaxed);
        let work = Work {
            project: project.to_owned(),
            began: Instant::now(),
            is_hung: false,
        };
        running.insert(number, work);
        drop(running);
        Some(Self {
            bounded_io: Arc::clone(bounded_io),
            number,
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.bounded_io.running.lock().remove(&self.number);
    }
}
