//! Hashes the contents of changed files, so that two snapshots of a work tree can be compared. Never blocks on special
//! files such as FIFOs, and reads a bounded total.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkpoint::digest;
use checkpoint::whose::Times;

use super::times;
use crate::named_file::{self, Links};

/// Larger files are not read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Limit for all files together.
const TOTAL_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Hashes files of one work tree until the byte budget or the deadline is exhausted.
pub(super) struct Contents<'a> {
    top: &'a Path,
    bytes_left: u64,
    deadline: Instant,
    buffer: Vec<u8>,
    /// Whether the buffer holds the last file.
    is_read: bool,
    /// When the last path was written.
    times: Option<Times>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(top: &'a Path, deadline: Instant) -> Self {
        Self {
            top,
            bytes_left: TOTAL_BYTES_MAX,
            deadline,
            buffer: Vec::new(),
            is_read: false,
            times: None,
        }
    }

    /// Returns the hash of a file's content or of a symbolic link's target. If the file is too large or the budget is
    /// exhausted, hashes its length and modification time instead. Returns `None` if the path does not exist or is
    /// neither a file nor a link.
    pub(super) fn hash(&mut self, path: &[u8]) -> Option<u64> {
        self.is_read = false;
        let path: PathBuf = self.top.join(OsStr::from_bytes(path));
        let meta = std::fs::symlink_metadata(&path).ok();
        self.times = meta
            .as_ref()
            .map(times::of)
            .or_else(|| times::of_gone(&path));
        let meta = meta?;
        if meta.is_symlink() {
            return Some(digest::of_bytes(
                std::fs::read_link(&path).ok()?.as_os_str().as_bytes(),
            ));
        }
        if !meta.is_file() {
            return None;
        }
        let is_affordable =
            meta.len() <= FILE_BYTES_MAX.min(self.bytes_left) && Instant::now() < self.deadline;
        self.is_read = is_affordable && self.read(&path).is_some();
        if self.is_read {
            return Some(digest::of_bytes(&self.buffer));
        }
        Some(stamp(&meta))
    }

    /// Returns the content that was hashed last, if it was read whole.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.is_read.then_some(self.buffer.as_slice())
    }

    /// Returns when the path that was hashed last was written.
    pub(super) const fn times(&self) -> Option<Times> {
        self.times
    }

    /// Reads a file into the buffer. Returns `None` if it cannot be read, has grown, or is no longer a regular file.
    fn read(&mut self, path: &Path) -> Option<()> {
        // The file may have been replaced by a FIFO or a link since the check.
        let (file, _) = named_file::open(path, Links::Refuse).ok()?;
        self.buffer.clear();
        let count = file
            .take(FILE_BYTES_MAX + 1)
            .read_to_end(&mut self.buffer)
            .ok()? as u64;
        self.bytes_left = self.bytes_left.saturating_sub(count);
        (count <= FILE_BYTES_MAX).then_some(())
    }
}

fn stamp(meta: &Metadata) -> u64 {
    digest::of_text(&format!(
        "{} {}.{:09}",
        meta.len(),
        meta.mtime(),
        meta.mtime_nsec()
    ))
}
