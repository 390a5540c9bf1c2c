//! What tells a file or folder that changed from one that did not.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use journal::Timestamp;

use super::times::{self, Stamp};

/// What is at a path, as far as it matters. A folder's times say only that something in it was added or removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Missing,
    Folder {
        place: (u64, u64),
        owner: u32,
        mode: u32,
    },
    File(Stamp),
}

impl Mark {
    /// Returns what is at a path; `None` if that is neither a file nor a folder, or not known.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::read(path).map(|(mark, _)| mark)
    }

    /// Like [`Mark::of`]. `None` too if it may have changed since shortly before a time: git may have seen something
    /// else then, and a further change might leave the same times.
    pub(super) fn before(path: &Path, began: Timestamp) -> Option<Self> {
        let (mark, meta) = Self::read(path)?;
        let settled = |meta: Metadata| times::changed(&meta).plus(times::tick(&meta));
        meta.is_none_or(|meta| settled(meta) < began)
            .then_some(mark)
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
        let mark = match meta.is_dir() {
            true => Self::Folder {
                place: (meta.dev(), meta.ino()),
                owner: meta.uid(),
                mode: meta.mode(),
            },
            false if meta.is_file() => Self::File(Stamp::of(&meta)),
            false => return None,
        };
        Some((mark, Some(meta)))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_changed_a_moment_ago_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "").unwrap();
        let meta = path.metadata().unwrap();
        let changed = times::changed(&meta);
        assert_eq!(Mark::before(&path, changed), None);
        assert_eq!(Mark::before(&path, changed.plus(times::FILE_TICK)), None);
        let later = changed.plus(Duration::from_secs(4));
        let file = Mark::File(Stamp::of(&meta));
        assert_eq!(Mark::before(&path, later), Some(file));
        assert_eq!(Mark::before(&path.join("x"), changed), Some(Mark::Missing));
    }
}
