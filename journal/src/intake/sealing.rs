//! Seals segments: full ones, and those of the form of older versions.

use std::fs;

use super::files::{Form, Segment};
use super::repair::put;
use super::sealed::{Sealed, write};
use crate::codec;
use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind, Reader};

/// Seals a finished segment, or one of the form of older versions. A crash at any point leaves at least one complete form.
pub(crate) fn seal(segment: &Segment) -> Result<()> {
    let frames = segment.read()?;
    let frames = with_plain_payloads(&frames).unwrap_or(frames);
    let temporary = segment.path.with_extension("tmp");
    let sealed = segment.path.with_extension(Form::Sealed.ending());
    write(&temporary, &frames, segment.first_seq)?;
    let mut read = Vec::with_capacity(frames.len());
    Sealed::open(&temporary)?.read_all(&mut read)?;
    if read != frames {
        return Err(Error::damaged(
            temporary.display().to_string(),
            "it reads back differently than it was written",
        ));
    }
    put(&temporary, &sealed)?;
    fs::remove_file(&segment.path).doing("remove", &segment.path)
}

/// Returns frames with payloads as they are written today: older versions compressed each, and what is compressed cannot be
/// compressed again. `None` if no payload changes, or the frames are damaged.
fn with_plain_payloads(frames: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(2 * frames.len());
    let mut changed = false;
    for found in Reader::new(frames) {
        let found = found.ok()?;
        match codec::split(found.payload) {
            Ok((event, payload)) if codec::is_packed(payload) => {
                let text = codec::decode_payload(payload).ok()?.into_text()?;
                let payload = codec::encode_payload(Some(&text));
                frame::push(&mut plain, Kind::Envelope, &codec::join(event, &payload));
                changed = true;
            }
            _ => plain.extend_from_slice(&frames[found.offset..found.end()]),
        }
    }
    changed.then_some(plain)
}
