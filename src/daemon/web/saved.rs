//! What outlives the daemon of its page: the port, and the secrets with which open tabs return. So a tab continues
//! after a restart without a new token.
//!
//! The file is for the user only, and is valid for a few minutes after a tab's last request.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use journal::named_file;
use serde::{Deserialize, Serialize};

use super::access::Tab;

/// The page is not opened again if no tab sent a request for this long.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);
/// The file, in the daemon's folder of its own.
const FILE: &str = "page.json";

/// What the file keeps for the next daemon.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) port: u16,
    pub(super) tabs: Vec<Tab>,
}

fn file(run: &Path) -> PathBuf {
    run.join(FILE)
}

/// Writes the file again. Without it, tabs need a new token after a restart.
pub(super) fn keep(run: &Path, kept: &Saved) {
    let unfinished = run.join(format!("{FILE}.new"));
    let write = || -> std::io::Result<()> {
        let _ = fs::remove_file(&unfinished);
        let mut new = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)?;
        new.write_all(&serde_json::to_vec(kept).expect("plain data"))?;
        fs::rename(&unfinished, file(run))
    };
    if let Err(error) = write() {
        tracing::debug!(%error, "The page is not kept for the next start.");
    }
}

/// Records that a tab is still open.
pub(super) fn heard(run: &Path) {
    if let Ok(file) = named_file::open_own(&file(run), File::options().append(true)) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Returns what is kept of the last daemon's page, unless it is too old.
pub(super) fn read(run: &Path) -> Option<Saved> {
    let file = file(run);
    let heard = file.metadata().ok()?.modified().ok()?;
    let age = SystemTime::now().duration_since(heard).unwrap_or_default();
    if age > KEPT_FOR {
        forget(run);
        return None;
    }
    serde_json::from_slice(&named_file::own(&file, u64::MAX).ok()?).ok()
}

/// Removes it: the page was closed.
pub(super) fn forget(run: &Path) {
    let _ = fs::remove_file(file(run));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_is_private_and_counts_for_minutes() {
        let run = tempfile::tempdir().expect("a folder");
        assert!(read(run.path()).is_none());
        let kept = Saved {
            port: 4711,
            tabs: vec![Tab::new()],
        };
        keep(run.path(), &kept);
        let mode = file(run.path()).metadata().expect("there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        let again = read(run.path()).expect("it is new");
        assert_eq!((again.port, &again.tabs), (4711, &kept.tabs));
        let long_ago = SystemTime::now() - KEPT_FOR - Duration::from_secs(60);
        let opened = OpenOptions::new().append(true).open(file(run.path()));
        opened.expect("there").set_modified(long_ago).expect("set");
        assert!(read(run.path()).is_none() && !file(run.path()).exists());
        keep(run.path(), &kept);
        let opened = OpenOptions::new().append(true).open(file(run.path()));
        opened.expect("there").set_modified(long_ago).expect("set");
        heard(run.path());
        assert!(read(run.path()).is_some(), "a tab sent a request");
    }
}
