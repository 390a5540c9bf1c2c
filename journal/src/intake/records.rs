//! The events in the frames of a segment.

use crate::error::{Error, Result};
use crate::frame::{self, Damage, Kind, Reader};
use crate::{Envelope, codec};

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
                    let known = u32::from(frame::HEAD_VERSION);
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
    let frames = Reader::starting_at(bytes, at).flatten();
    let mut events = frames.filter(|frame| frame.kind == Kind::Envelope);
    events.find_map(|frame| Some((codec::split(frame.payload).ok()?.0, frame.end())))
}

fn record(payload: &[u8]) -> Result<Record<'_>> {
    let (event, payload) = codec::split(payload)?;
    Ok(Record {
        envelope: codec::decode_event(event)?,
        event,
        payload,
    })
}
