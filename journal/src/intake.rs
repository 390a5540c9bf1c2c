//! The intake log: append-only segment files of frames, which an acknowledgement rests on.
//!
//! A segment is named after its first sequence number: `<20 digits>.log` while it is written, `<20 digits>.lz4` (one
//! LZ4 frame of the same bytes) once it is sealed. Sealed segments are kept, so that the store can be rebuilt.
//! Must never: overwrite a byte that was acknowledged, or hide damage.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Reads the segment's frames, unpacked where it is sealed.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let bytes = fs::read(&self.path).doing("read", &self.path)?;
        if !self.sealed {
            return Ok(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len() * 4);
        lz4_flex::frame::FrameDecoder::new(bytes.as_slice())
            .read_to_end(&mut out)
            .map_err(|error| Error::damaged(self.path.display().to_string(), error.to_string()))?;
        Ok(out)
    }
}

/// Lists the segments of a folder, oldest first. Of a segment that is there twice, the unsealed form counts: sealing
/// removes it last.
pub(crate) fn segments(dir: &Path) -> Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).doing("list", dir)? {
        let path = entry.doing("list", dir)?.path();
        let sealed = match path.extension().and_then(|ending| ending.to_str()) {
            Some("log") => false,
            Some("lz4") => true,
            _ => continue,
        };
        let Some(first_seq) = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok()) else {
            continue;
        };
        found.push(Segment { first_seq, path, sealed });
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

/// Reads the records of unpacked segment bytes in order, one at a time: a segment of events takes far more memory than
/// its bytes do. Whatever is no record goes to `damage`; after an error nothing more comes.
pub(crate) fn records<'a>(bytes: &'a [u8], mut damage: impl FnMut(Damage)) -> impl Iterator<Item = Result<Record<'a>>> {
    let mut frames = Reader::new(bytes);
    let mut failed = false;
    std::iter::from_fn(move || {
        while !failed {
            let record = match frames.next()? {
                Ok(found) if found.kind == Kind::Envelope => record(found.payload),
                Ok(_) => continue,
                Err(Damage::Newer { version, .. }) => {
                    let known = u32::from(frame::VERSION);
                    Err(Error::Newer { what: "a frame".into(), found: version.into(), known })
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

fn record(payload: &[u8]) -> Result<Record<'_>> {
    let (event, payload) = codec::split(payload)?;
    Ok(Record { envelope: codec::decode_event(event)?, event, payload })
}

/// The segment that is being written.
pub(crate) struct Writer {
    dir: PathBuf,
    path: PathBuf,
    file: Arc<File>,
    length: u64,
}

impl Writer {
    /// Goes on with a segment at `length` bytes, cutting off what is behind.
    pub(crate) fn resume(segment: &Segment, length: u64) -> Result<Self> {
        let file = OpenOptions::new().write(true).open(&segment.path).doing("open", &segment.path)?;
        file.set_len(length).doing("cut", &segment.path)?;
        file.sync_data().doing("sync", &segment.path)?;
        let dir = segment.path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self { dir, path: segment.path.clone(), file: Arc::new(file), length })
    }

    /// Begins the segment whose first event will be `first_seq`.
    pub(crate) fn create(dir: &Path, first_seq: u64) -> Result<Self> {
        let path = dir.join(format!("{first_seq:020}.log"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .doing("create", &path)?;
        sync_dir(dir)?;
        Ok(Self { dir: dir.to_owned(), path, file: Arc::new(file), length: 0 })
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Returns the file, for a sync on another thread.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes whole frames behind the last ones. On failure nothing of them stays.
    pub(crate) fn append(&mut self, frames: &[u8]) -> Result<()> {
        match self.file.write_all_at(frames, self.length) {
            Ok(()) => {
                self.length += frames.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A part may have been written; the next append overwrites it, and a crash before that leaves a torn
                // tail, which recovery cuts. Cutting here only frees the space, so its failure changes nothing.
                let _ = self.file.set_len(self.length);
                Err(Error::disk("write to", &self.path, &error))
            }
        }
    }

    /// Takes back everything behind `length` after a failed sync.
    pub(crate) fn take_back(&mut self, length: u64) {
        let _ = self.file.set_len(length);
        self.length = length;
    }

    /// Returns once everything written is on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().doing("sync", &self.path)
    }
}

/// Replaces a finished segment by its compressed form. A crash at any point leaves at least one whole form.
pub(crate) fn seal(path: &Path) -> Result<()> {
    let bytes = fs::read(path).doing("read", path)?;
    let temporary = path.with_extension("tmp");
    let sealed = path.with_extension("lz4");
    write_sealed(&temporary, &bytes)?;
    fs::rename(&temporary, &sealed).doing("rename", &temporary)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    fs::remove_file(path).doing("remove", path)
}

/// Writes frames in the compressed form into a file of their own, and returns once they are on the disk.
pub(crate) fn write_sealed(path: &Path, frames: &[u8]) -> Result<()> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).doing("create", path)?;
    let mut encoder = lz4_flex::frame::FrameEncoder::new(file);
    encoder.write_all(frames).doing("write to", path)?;
    let file = encoder.finish().map_err(|error| Error::damaged(path.display().to_string(), error.to_string()))?;
    file.sync_data().doing("sync", path)
}

/// Makes names in a folder durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|file| file.sync_all()).doing("sync", dir)
}
