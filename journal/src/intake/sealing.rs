//! Seals finished segments.

use std::fs;

use super::files::{Form, Segment};
use super::repair::put;
use super::sealed::{Sealed, write};
use crate::error::{Doing, Error, Result};

/// Seals a finished segment.
pub(crate) fn seal(segment: &Segment) -> Result<()> {
    replace_frames(segment, &segment.read()?)
}

/// Puts a sealed segment with these frames in the place of a segment. A crash at any point leaves at least one complete
/// form.
pub(crate) fn replace_frames(segment: &Segment, frames: &[u8]) -> Result<()> {
    let temporary = segment.path.with_extension("tmp");
    let sealed = segment.path.with_extension(Form::Sealed.ending());
    write(&temporary, frames, segment.first_seq)?;
    if !Sealed::open(&temporary)?.holds(frames)? {
        return Err(Error::damaged(
            temporary.display().to_string(),
            "it reads back differently than it was written",
        ));
    }
    put(&temporary, &sealed)?;
    match segment.form {
        Form::Open => fs::remove_file(&segment.path).doing("remove", &segment.path),
        Form::Sealed => Ok(()),
    }
}
