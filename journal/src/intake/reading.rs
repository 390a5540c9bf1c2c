//! Reads whole segments, in each form.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use super::files::{Form, SEGMENT_BYTES, Segment};
use super::repair::repair;
use super::sealed::Sealed;
use crate::error::{Doing, Error, Result};
use crate::named_file;

impl Segment {
    /// Reads the frames of the segment; unpacks it, even if it was sealed after listing.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut frames = Vec::new();
        self.read_into(&mut frames)?;
        Ok(frames)
    }

    /// Like [`Segment::read`], into `frames`, whose contents it replaces.
    pub(crate) fn read_into(&self, frames: &mut Vec<u8>) -> Result<()> {
        frames.clear();
        // A segment ends with the first group of events that fills it.
        frames.reserve((SEGMENT_BYTES + SEGMENT_BYTES / 4) as usize);
        match named_file::open_own(&self.path, File::options().read(true)) {
            Ok(file) => self.unpack(file, frames),
            Err(error) if error.kind() == ErrorKind::NotFound && self.form != Form::Sealed => {
                let path = self.path.with_extension(Form::Sealed.ending());
                read_sealed(&path, frames)
            }
            Err(error) => Err(error).doing("read", &self.path),
        }
    }

    fn unpack(&self, mut file: File, frames: &mut Vec<u8>) -> Result<()> {
        match self.form {
            Form::Open => file.read_to_end(frames).map(drop).doing("read", &self.path),
            Form::Sealed => read_sealed(&self.path, frames),
        }
    }
}

/// Reads a sealed segment, and repairs it if it is damaged.
fn read_sealed(path: &Path, frames: &mut Vec<u8>) -> Result<()> {
    match Sealed::open(path).and_then(|sealed| sealed.read_all(frames)) {
        Err(Error::Damaged { .. }) => {
            frames.clear();
            repair(path)?.0.read_all(frames)
        }
        read => read,
    }
}
