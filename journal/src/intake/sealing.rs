//! Seals segments: full ones, and those that an older version sealed.

use std::fs;

use super::files::{Form, Segment};
use super::repair::put;
use super::sealed::{Sealed, write};
use crate::codec;
use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind, Reader};

/// Seals a finished segment, or one that an older version sealed. A crash at any point leaves at least one complete
/// form.
pub(crate) fn seal(segment: &Segment) -> Result<()> {
    let frames = segment.read()?;
    let frames = with_plain_payloads(&frames).unwrap_or(frames);
    let temporary = segment.path.with_extension("tmp");
    let sealed = segment.path.with_extension(Form::Sealed.ending());
    write(&temporary, &frames, segment.first_seq)?;
    if !Sealed::open(&temporary)?.holds(&frames)? {
        return Err(Error::damaged(
            temporary.display().to_string(),
            "it reads back differently than it was written",
        ));
    }
    put(&temporary, &sealed)?;
    fs::remove_file(&segment.path).doing("remove", &segment.path)
}

/// Returns frames with payloads in their present form: older versions compressed each, and what is compressed cannot be
/// compressed again. `None` if no payload changes, or the frames are damaged.
fn with_plain_payloads(frames: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    // The end of the part that `plain` has.
    let mut copied = 0;
    for found in Reader::new(frames) {
        let found = found.ok()?;
        if let Ok((event, payload)) = codec::split(found.payload)
            && codec::is_packed(payload)
        {
            let text = codec::decode_payload(payload).ok()?.into_text()?;
            let payload = codec::encode_payload(Some(&text));
            plain.extend_from_slice(&frames[copied..found.offset]);
            frame::push(&mut plain, Kind::Envelope, &codec::join(event, &payload));
            copied = found.end();
        }
    }
    if copied == 0 {
        return None;
    }
    plain.extend_from_slice(&frames[copied..]);
    Some(plain)
}
