//! When files were written, as far as the times of files tell, and what tells one that was written from one that was not.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use checkpoint::whose::{Times, TimesOf};
use journal::Timestamp;

/// The coarsest resolution of file times.
pub(crate) const FILE_TICK: Duration = Duration::from_millis(20);
/// The coarsest resolution of file times on a file system that has no parts of seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// The place of a file or folder, its length, and when it was written and changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp([u64; 3], (i64, i64), (i64, i64));

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        let (written, changed) = (
            (meta.mtime(), meta.mtime_nsec()),
            (meta.ctime(), meta.ctime_nsec()),
        );
        Self([meta.dev(), meta.ino(), meta.len()], written, changed)
    }
}

/// Returns when the content of a file was written. Programs can set this time.
pub(crate) fn written(meta: &Metadata) -> Timestamp {
    at(meta.mtime(), meta.mtime_nsec())
}

/// Returns when a file changed: its content, owner, mode or name. Only the system sets this time.
pub(crate) fn changed(meta: &Metadata) -> Timestamp {
    at(meta.ctime(), meta.ctime_nsec())
}

fn at(seconds: i64, nanos: i64) -> Timestamp {
    let micros = seconds.saturating_mul(1_000_000);
    Timestamp::from_micros(micros.saturating_add(nanos / 1_000))
}

/// Returns how coarse the times of a file are.
pub(super) fn tick(meta: &Metadata) -> Duration {
    match meta.ctime_nsec() {
        0 => COARSE_TICK,
        _ => FILE_TICK,
    }
}

/// Returns the times of a file or folder that is there.
pub(super) fn of(meta: &Metadata) -> Times {
    Times {
        written: written(meta),
        changed: changed(meta),
        tick: tick(meta),
        of: if meta.is_dir() {
            TimesOf::Folder
        } else {
            TimesOf::File
        },
    }
}

/// Returns the times of the nearest folder of a file that is gone: to delete it changed its folder.
pub(super) fn of_gone(path: &Path) -> Option<Times> {
    let mut above = path.ancestors().skip(1);
    let meta = above.find_map(|folder| std::fs::symlink_metadata(folder).ok())?;
    Some(Times {
        of: TimesOf::Gone,
        ..of(&meta)
    })
}
