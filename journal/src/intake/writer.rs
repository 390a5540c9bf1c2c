//! The segment that is being written.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::files::{Form, Segment, create_private, sync_dir};
use crate::error::{Doing, Error, Result};
use crate::frame::{self, HEADER_BYTES, Kind, Reader};
use crate::named_file;

/// The file of the unsealed segment. After a failed sync a later, successful one proves nothing: the system may have
/// dropped the pages that it could not write, and reports that only once.
pub(crate) struct Unsealed {
    file: File,
    failed: AtomicBool,
}

impl Unsealed {
    pub(crate) fn sync(&self, path: &Path) -> Result<()> {
        let synced = self.file.sync_data().doing("sync", path);
        synced.inspect_err(|_| self.fail())
    }

    fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }
}

/// The segment that is being written.
pub(crate) struct Writer {
    dir: PathBuf,
    first_seq: u64,
    path: PathBuf,
    file: Arc<Unsealed>,
    length: u64,
}

impl Writer {
    /// Continues a segment at `length` bytes; truncates the rest.
    pub(crate) fn resume(segment: &Segment, length: u64) -> Result<Self> {
        let file = named_file::open_own(&segment.path, File::options().write(true));
        let file = file.doing("open", &segment.path)?;
        let dir = segment.path.parent().unwrap_or(Path::new(".")).to_owned();
        let mut writer = Self {
            dir,
            first_seq: segment.first_seq,
            path: segment.path.clone(),
            file: unsealed(file, false),
            length,
        };
        if copy_path(&segment.path).exists() {
            // The last process could not rewrite it, so its contents on the disk are unknown.
            writer.renew()?;
        }
        let cut = writer.file.file.set_len(length);
        cut.doing("cut", &segment.path)?;
        if length == 0 {
            writer.begin();
        }
        writer.sync()?;
        Ok(writer)
    }

    /// Starts the segment whose first event will be `first_seq`.
    pub(crate) fn create(dir: &Path, first_seq: u64) -> Result<Self> {
        let path = dir.join(format!("{first_seq:020}.log"));
        let file = create_private(&path)?;
        // The file exists even if its name was not synced: it must be used, or the log would have two ends.
        let failed = sync_dir(dir).is_err();
        let mut writer = Self {
            dir: dir.to_owned(),
            first_seq,
            path,
            file: unsealed(file, failed),
            length: 0,
        };
        writer.begin();
        Ok(writer)
    }

    /// Writes the head of an empty segment. Without it, it is read just so, but programs that know no sealed blocks would
    /// not refuse it.
    fn begin(&mut self) {
        if let Err(error) = self.append(&head()) {
            tracing::warn!(%error, "A segment has no head.");
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length <= head().len() as u64
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Returns the file, for a sync on another thread.
    pub(crate) fn file(&self) -> Arc<Unsealed> {
        Arc::clone(&self.file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn segment(&self) -> Segment {
        Segment {
            first_seq: self.first_seq,
            form: Form::Open,
            path: self.path.clone(),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns whether the segment must be rewritten before the next acknowledgment.
    pub(crate) fn has_failed(&self) -> bool {
        self.file.failed.load(Ordering::Acquire)
    }

    /// Rewrites the segment into a new file that replaces it: after a failed sync only bytes written and synced again can
    /// be trusted.
    ///
    /// # Errors
    ///
    /// If it cannot be read completely, or the disk fails. The caller may try again.
    pub(crate) fn renew(&mut self) -> Result<()> {
        let mut bytes = named_file::own(&self.path, u64::MAX).doing("read", &self.path)?;
        bytes.truncate(self.length as usize);
        let is_whole =
            bytes.len() as u64 == self.length && Reader::new(&bytes).all(|frame| frame.is_ok());
        if !is_whole {
            return Err(Error::damaged(
                self.path.display().to_string(),
                "bytes that were written to it are missing",
            ));
        }
        let copy = copy_path(&self.path);
        let mut file = create_private(&copy)?;
        file.write_all(&bytes).doing("write to", &copy)?;
        file.sync_data().doing("sync", &copy)?;
        fs::rename(&copy, &self.path).doing("rename", &copy)?;
        self.file = unsealed(file, true);
        sync_dir(&self.dir)?;
        self.file.failed.store(false, Ordering::Release);
        Ok(())
    }

    /// Appends complete frames. After a failure none of their bytes remain.
    pub(crate) fn append(&mut self, frames: &[u8]) -> Result<()> {
        match self.file.file.write_all_at(frames, self.length) {
            Ok(()) => {
                self.length += frames.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.truncate(self.length);
                Err(Error::disk("write to", &self.path, &error))
            }
        }
    }

    /// Truncates the segment to `length` after a failed write or sync. If that fails too, the segment is rewritten before
    /// the next write: after a crash the remains might look like events.
    pub(crate) fn truncate(&mut self, length: u64) {
        if self.file.file.set_len(length).is_err() {
            self.file.fail();
        }
        self.length = length;
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync(&self.path)
    }
}

fn head() -> Vec<u8> {
    let mut head = Vec::with_capacity(HEADER_BYTES);
    frame::push(&mut head, Kind::Head, &[]);
    head
}

fn unsealed(file: File, failed: bool) -> Arc<Unsealed> {
    Arc::new(Unsealed {
        file,
        failed: AtomicBool::new(failed),
    })
}

/// The file that a segment is rewritten into. It stays after a failure, for the next start to find.
fn copy_path(segment: &Path) -> PathBuf {
    segment.with_extension("log.tmp")
}
