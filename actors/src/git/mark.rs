//! What tells a file or folder that changed from one that did not.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The coarsest resolution of file times.
pub(crate) const FILE_TICK: Duration = Duration::from_millis(20);
/// The coarsest resolution of file times on a file system that has no parts of seconds.
pub(super) const COARSE_TICK: Duration = Duration::from_secs(2);

/// What is at a path, as far as it matters. A folder's times say only that something in it was added or removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Missing,
    Folder {
        place: (u64, u64),
        owner: u32,
        mode: u32,
    },
    File {
        place: (u64, u64),
        length: u64,
        written: (i64, i64),
        /// Only the system sets this time: with every change of content, owner, mode or name.
        changed: (i64, i64),
    },
}

impl Mark {
    /// Returns what is at a path; `None` if that is neither a file nor a folder, or not known.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::read(path).map(|(mark, _)| mark)
    }

    /// Like [`Mark::of`]. `None` too if it may have changed since shortly before a time: git may have seen something
    /// else then, and a further change might leave the same times.
    pub(super) fn before(path: &Path, began: SystemTime) -> Option<Self> {
        let (mark, meta) = Self::read(path)?;
        let is_settled = meta.is_none_or(|meta| {
            let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or_default();
            let tick = if nanos == 0 { COARSE_TICK } else { FILE_TICK };
            let changed = u64::try_from(meta.ctime()).unwrap_or_default();
            let settled = Duration::new(changed, nanos).saturating_add(tick);
            UNIX_EPOCH
                .checked_add(settled)
                .is_some_and(|settled| settled < began)
        });
        is_settled.then_some(mark)
    }

    fn read(path: &Path) -> Option<(Self, Option<Metadata>)> {
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => {
                let is_missing =
                    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                return is_missing.then_some((Self::Missing, None));
            }
        };
        let place = (meta.dev(), meta.ino());
        let mark = if meta.is_dir() {
            Self::Folder {
                place,
                owner: meta.uid(),
                mode: meta.mode(),
            }
        } else if meta.is_file() {
            Self::File {
                place,
                length: meta.len(),
                written: (meta.mtime(), meta.mtime_nsec()),
                changed: (meta.ctime(), meta.ctime_nsec()),
            }
        } else {
            return None;
        };
        Some((mark, Some(meta)))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use super::*;

    #[test]
    fn what_changed_a_moment_ago_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "").unwrap();
        let meta = path.metadata().unwrap();
        let (seconds, nanos) = (meta.ctime().unsigned_abs(), meta.ctime_nsec());
        let changed = UNIX_EPOCH + Duration::new(seconds, u32::try_from(nanos).unwrap());
        assert_eq!(Mark::before(&path, changed), None);
        assert_eq!(Mark::before(&path, changed + FILE_TICK), None);
        let later = changed + 2 * COARSE_TICK;
        assert!(matches!(
            Mark::before(&path, later),
            Some(Mark::File { length: 0, .. })
        ));
        assert_eq!(Mark::before(&path.join("x"), changed), Some(Mark::Missing));
    }
}
