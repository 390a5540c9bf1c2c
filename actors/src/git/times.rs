//! When changed files were written, as far as the times of files tell.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use checkpoint::whose::{Times, TimesOf};
use journal::Timestamp;

use super::mark::{COARSE_TICK, FILE_TICK};

/// Returns the times of a file or folder that is there.
pub(super) fn of(meta: &Metadata) -> Times {
    let at = |seconds: i64, nanos: i64| {
        Timestamp::from_micros(
            seconds
                .saturating_mul(1_000_000)
                .saturating_add(nanos / 1_000),
        )
    };
    let is_coarse = meta.mtime_nsec() == 0 && meta.ctime_nsec() == 0;
    Times {
        written: at(meta.mtime(), meta.mtime_nsec()),
        changed: at(meta.ctime(), meta.ctime_nsec()),
        tick: if is_coarse { COARSE_TICK } else { FILE_TICK },
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
