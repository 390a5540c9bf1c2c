//! The intake log: append-only segment files of frames. An event is acknowledged once it is here.
//!
//! A segment is named after its first sequence number: `<20 digits>.log` while it is written, `<20 digits>.lz4` (one
//! LZ4 frame of the same bytes) once it is sealed. Sealed segments are kept, so the store can be rebuilt.
//! Never overwrites an acknowledged byte and never hides damage.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Damage, Kind, Reader};
use crate::{Envelope, codec};

/// A segment is sealed at this size.
pub(crate) const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// A segment on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) first_seq: u64,
    pub(crate) path: PathBuf,
    pub(crate) sealed: bool,
}

impl Segment {
    /// Reads the frames of the segment; decompresses it, even if it was sealed after listing.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut frames = Vec::new();
        self.read_into(&mut frames)?;
        Ok(frames)
    }

    /// Like [`Segment::read`], into `frames`, whose contents it replaces.
    pub(crate) fn read_into(&self, frames: &mut Vec<u8>) -> Result<()> {
        frames.clear();
        frames.reserve(SEGMENT_BYTES as usize);
        let (mut file, path, sealed) = match File::open(&self.path) {
            Ok(file) => (file, self.path.clone(), self.sealed),
            Err(error) if error.kind() == ErrorKind::NotFound && !self.sealed => {
                let path = self.path.with_extension("lz4");
                (File::open(&path).doing("read", &path)?, path, true)
            }
            Err(error) => return Err(error).doing("read", &self.path),
        };
        if !sealed {
            return file.read_to_end(frames).map(drop).doing("read", &path);
        }
        let unpacked = FrameDecoder::new(file).read_to_end(frames);
        unpacked
            .map(drop)
            .map_err(|error| Error::damaged(path.display().to_string(), error.to_string()))
    }
}

/// Lists the segments of a folder, oldest first. If a segment is there in both forms, the unsealed one counts, because
/// sealing removes it last.
pub(crate) fn segments(dir: &Path) -> Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).doing("list", dir)? {
        let path = entry.doing("list", dir)?.path();
        let sealed = match path.extension().and_then(|ending| ending.to_str()) {
            Some("log") => false,
            Some("lz4") => true,
            _ => continue,
        };
        let Some(first_seq) = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .and_then(|stem| stem.parse().ok())
        else {
            continue;
        };
        found.push(Segment {
            first_seq,
            path,
            sealed,
        });
    }
    found.sort_by_key(|segment| (segment.first_seq, segment.sealed));
    found.dedup_by_key(|segment| segment.first_seq);
    Ok(found)
}

/// One record of the intake log.
pub(crate) struct Record<'a> {
    pub(crate) envelope: Envelope,
    pub(crate) event: &'a [u8],
    pub(crate) payload: &'a [u8],
}

/// Iterates over the records of a decompressed segment. One at a time, because decoded events take far more memory than
/// their bytes. Damaged bytes are passed to `damage`; an error ends the iteration.
pub(crate) fn records<'a>(
    bytes: &'a [u8],
    mut damage: impl FnMut(Damage),
) -> impl Iterator<Item = Result<Record<'a>>> {
    let mut frames = Reader::new(bytes);
    let mut failed = false;
    std::iter::from_fn(move || {
        while !failed {
            let record = match frames.next()? {
                Ok(found) if found.kind == Kind::Envelope => record(found.payload),
                Ok(_) => continue,
                Err(Damage::Newer { version, .. }) => {
                    let known = u32::from(frame::VERSION);
                    Err(Error::Newer {
                        what: "a frame".into(),
                        found: version.into(),
                        known,
                    })
                }
                Err(found) => {
                    damage(found);
                    continue;
                }
            };
            failed = record.is_err();
            return Some(record);
        }
        None
    })
}

/// Finds the first complete record at `at` or later. Returns its event value, and the offset after it.
pub(crate) fn event_value_from(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let frames = Reader::starting_at(bytes, at)
        .flatten()
        .filter(|frame| frame.kind == Kind::Envelope);
    frames
        .map(|frame| (codec::split(frame.payload), frame.end()))
        .find_map(|(parts, end)| Some((parts.ok()?.0, end)))
}

fn record(payload: &[u8]) -> Result<Record<'_>> {
    let (event, payload) = codec::split(payload)?;
    Ok(Record {
        envelope: codec::decode_event(event)?,
        event,
        payload,
    })
}

/// The file of the unsealed segment. After a failed sync a later, successful one proves nothing: the system may have
/// dropped the pages that it could not write, and reports that only once.
pub(crate) struct Unsealed {
    file: File,
    failed: AtomicBool,
}

impl Unsealed {
    /// Syncs everything written.
    pub(crate) fn sync(&self, path: &Path) -> Result<()> {
        self.file
            .sync_data()
            .doing("sync", path)
            .inspect_err(|_| self.fail())
    }

    fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }
}

/// The segment that is being written.
pub(crate) struct Writer {
    dir: PathBuf,
    path: PathBuf,
    file: Arc<Unsealed>,
    length: u64,
}

impl Writer {
    /// Continues a segment at `length` bytes; truncates the rest.
    pub(crate) fn resume(segment: &Segment, length: u64) -> Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .open(&segment.path)
            .doing("open", &segment.path)?;
        let dir = segment.path.parent().unwrap_or(Path::new(".")).to_owned();
        let mut writer = Self {
            dir,
            path: segment.path.clone(),
            file: unsealed(file, false),
            length,
        };
        if copy_path(&segment.path).exists() {
            // The last process could not rewrite it, so its contents on the disk are unknown.
            writer.renew()?;
        }
        writer
            .file
            .file
            .set_len(length)
            .doing("cut", &segment.path)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Starts the segment whose first event will be `first_seq`.
    pub(crate) fn create(dir: &Path, first_seq: u64) -> Result<Self> {
        let path = dir.join(format!("{first_seq:020}.log"));
        let file = create_private(&path)?;
        // The file exists even if its name was not synced: it must be used, or the log would have two ends.
        let failed = sync_dir(dir).is_err();
        Ok(Self {
            dir: dir.to_owned(),
            path,
            file: unsealed(file, failed),
            length: 0,
        })
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

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns whether the segment must be rewritten before the next acknowledgement.
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
        let mut bytes = fs::read(&self.path).doing("read", &self.path)?;
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

    /// Syncs everything written.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync(&self.path)
    }
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

fn create_private(path: &Path) -> Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .doing("create", path)
}

/// Replaces a finished segment by its compressed form. A crash at any point leaves at least one complete form.
pub(crate) fn seal(path: &Path) -> Result<()> {
    let bytes = fs::read(path).doing("read", path)?;
    let temporary = path.with_extension("tmp");
    let sealed = path.with_extension("lz4");
    write_sealed(&temporary, &bytes)?;
    fs::rename(&temporary, &sealed).doing("rename", &temporary)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    fs::remove_file(path).doing("remove", path)
}

/// Writes frames to a new compressed file and syncs it.
pub(crate) fn write_sealed(path: &Path, frames: &[u8]) -> Result<()> {
    let file = create_private(path)?;
    // Small blocks, each with the previous one as its dictionary, compress as well as large ones, and neither writer nor
    // reader needs large buffers.
    let blocks = FrameInfo::new()
        .block_size(BlockSize::Max64KB)
        .block_mode(BlockMode::Linked);
    let mut encoder = FrameEncoder::with_frame_info(blocks, file);
    encoder.write_all(frames).doing("write to", path)?;
    let file = encoder
        .finish()
        .map_err(|error| Error::damaged(path.display().to_string(), error.to_string()))?;
    file.sync_data().doing("sync", path)
}

/// Syncs a folder: makes new, renamed and removed names durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|file| file.sync_all())
        .doing("sync", dir)
}
