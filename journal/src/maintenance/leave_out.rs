//! Makes a log usable that is damaged beyond repair: what cannot be read is left out, and its numbers are marked (spec
//! JRNL-27).

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::forget::empty_at;
use crate::error::{Doing, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, Form, Segment};
use crate::{Identity, Renewal, Timestamp, codec, layout, recovery};

/// Frames of a segment by the number of their event.
type Events = BTreeMap<u64, (Timestamp, Vec<u8>)>;

/// Replaces each segment that is not whole by what is left of it, with marks instead of the events that it lacks. The
/// damaged files are kept in a folder beside the log. Returns the events that were left out.
///
/// # Errors
///
/// [`crate::Error::Locked`] while another process has the journal open, or if a segment cannot be written.
pub fn leave_out_damaged(dir: &Path) -> Result<Vec<RangeInclusive<u64>>> {
    let _lock = recovery::lock(dir)?;
    let intake_dir = layout::intake_dir(dir);
    intake::remove_superseded(&intake_dir)?;
    let segments = intake::segments(&intake_dir)?;
    let mut left_out = Vec::new();
    let aside = Aside::new(dir);
    let mut is_renewed = false;
    let mut next = 1;
    let mut last_at = Timestamp::default();
    for (index, segment) in segments.iter().enumerate() {
        let before = segments.get(index + 1).map(|next| next.first_seq);
        let mut events = events(segment);
        events.retain(|seq, _| *seq >= next && before.is_none_or(|before| *seq < before));
        let last = events.last_key_value().map_or(0, |(seq, _)| *seq);
        let last = before.map_or(last.max(segment.first_seq - 1), |before| before - 1);
        // What is missing before the segment goes into it, too.
        let is_whole = segment.first_seq == next && events.len() as u64 == last + 1 - next;
        if !is_whole {
            aside.keep(segment)?;
            let frames = filled(next..=last, events, &mut last_at, &mut left_out);
            let whole = Segment {
                first_seq: next,
                path: intake_dir.join(format!("{next:020}.{}", Form::Sealed.ending())),
                form: Form::Sealed,
            };
            if !left_out.is_empty() && !std::mem::replace(&mut is_renewed, true) {
                // First: after a crash in between, a new name for the old events does no harm.
                Identity::renew(dir, Renewal::Forgotten)?;
            }
            intake::replace_frames(&whole, &frames)?;
            if segment.path != whole.path {
                fs::remove_file(&segment.path).doing("remove", &segment.path)?;
            }
        } else if let Some((at, _)) = events.values().next_back() {
            last_at = *at;
        }
        next = last + 1;
    }
    Ok(left_out)
}

fn events(segment: &Segment) -> Events {
    let bytes = segment.read().unwrap_or_else(|_| segment.salvage());
    let records = intake::records(&bytes, |_| ()).map_while(Result::ok);
    let event = |record: intake::Record<'_>| {
        let mut frame = Vec::new();
        let value = codec::join(record.event, record.payload);
        frame::push(&mut frame, Kind::Envelope, &value);
        (record.envelope.seq, (record.envelope.recorded_at, frame))
    };
    records.map(event).collect()
}

/// Returns the frames of a range of events, with marks instead of those that are missing.
fn filled(
    range: RangeInclusive<u64>,
    mut events: Events,
    last_at: &mut Timestamp,
    left_out: &mut Vec<RangeInclusive<u64>>,
) -> Vec<u8> {
    let mut frames = Vec::new();
    for seq in range {
        if let Some((at, frame)) = events.remove(&seq) {
            *last_at = at;
            frames.extend_from_slice(&frame);
            continue;
        }
        match left_out.last_mut() {
            Some(range) if range.end() + 1 == seq => *range = *range.start()..=seq,
            _ => left_out.push(seq..=seq),
        }
        let mark = codec::encode_event(&empty_at(seq, *last_at));
        let value = codec::join(&mark, &codec::NO_PAYLOAD);
        frame::push(&mut frames, Kind::Envelope, &value);
    }
    frames
}

/// The folder for damaged files.
struct Aside {
    folder: PathBuf,
}

impl Aside {
    fn new(dir: &Path) -> Self {
        let now = Timestamp::now().as_micros();
        let folder = dir.join(format!("intake.damaged-{now}"));
        Self { folder }
    }

    fn keep(&self, segment: &Segment) -> Result<()> {
        crate::home::create_folder(&self.folder).doing("create", &self.folder)?;
        let name = segment.path.file_name().unwrap_or_default();
        let kept = self.folder.join(name);
        fs::hard_link(&segment.path, &kept).doing("keep", &segment.path)
    }
}
