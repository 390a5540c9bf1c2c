//! Compaction: payloads leave by their age, and nothing else ever does. All events stay in the intake log and in the
//! store, so folding, decisions and their proof lose nothing. What was dropped stays marked as dropped in both.
//!
//! The store is changed first, then every sealed segment that holds something due is written anew and replaced in one
//! step. A crash in between leaves a payload on one side only; the next compaction takes it there. A segment that is not
//! whole, or differs from the store in any event, is left as it is and reported.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, Segment};
use crate::store::Store;
use crate::{Envelope, Timestamp, codec};

/// Events between two signs of progress.
const PROGRESS_EVERY: u64 = 10_000;

/// How long payloads are kept, counted from when they were recorded. None is for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those of all events that are not named below.
    pub payloads: Option<Duration>,
    /// Those of events of one kind.
    pub kinds: Vec<(String, Option<Duration>)>,
}

impl Retention {
    /// Tells whether the payload of an event is to go.
    pub fn is_due(&self, envelope: &Envelope, now: Timestamp) -> bool {
        let kind = envelope.event.kind();
        let own = self.kinds.iter().find(|(name, _)| name == kind);
        let kept = own.map_or(self.payloads, |(_, kept)| *kept);
        kept.is_some_and(|kept| envelope.recorded_at.plus(kept) <= now)
    }
}

/// What compaction did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// Nothing was changed: this is what would be done.
    pub dry_run: bool,
    /// Payloads dropped from the store.
    pub payloads: u64,
    /// The bytes that they took there.
    pub payload_bytes: u64,
    /// Segments of the intake log that were written anew.
    pub segments: u64,
    /// Size of the intake log before.
    pub intake_bytes_before: u64,
    /// Size of the intake log now.
    pub intake_bytes: u64,
    /// Size of the store before.
    pub store_bytes_before: u64,
    /// Size of the store now; it uses freed room again, and only [`super::pack`] gives it back.
    pub store_bytes: u64,
    /// Segments that were left as they are, and why, one line each.
    pub skipped: Vec<String>,
}

/// Drops from the store what is due, and returns the last event that is due and ever had a payload.
pub(crate) fn drop_from_store(
    store: &Store,
    last: u64,
    is_due: impl Fn(&Envelope) -> bool,
    done: &mut Compacted,
    progress: &mut impl FnMut(u64, u64),
) -> Result<Option<u64>> {
    let mut last_due = None;
    for envelope in store.events_from(1) {
        let envelope = envelope?;
        if envelope.seq > last {
            break;
        }
        if envelope.seq.is_multiple_of(PROGRESS_EVERY) {
            progress(envelope.seq, last);
        }
        if !is_due(&envelope) {
            continue;
        }
        let Some(value) = store.payload_value(envelope.seq)? else {
            continue;
        };
        last_due = Some(envelope.seq);
        if *value != codec::DROPPED {
            done.payloads += 1;
            done.payload_bytes += value.len() as u64;
            if !done.dry_run {
                store.drop_payload(envelope.seq)?;
            }
        }
    }
    Ok(last_due)
}

/// Writes sealed segments anew that still hold what is due, up to `last`.
pub(crate) fn rewrite_segments(
    dir: &Path,
    store: &Store,
    last: u64,
    is_due: impl Fn(&Envelope) -> bool,
    done: &mut Compacted,
) -> Result<()> {
    for segment in intake::segments(dir)?
        .iter()
        .filter(|segment| segment.sealed && segment.first_seq <= last)
    {
        match without_due(segment, store, &is_due) {
            Ok(None) => {}
            Ok(Some(frames)) => {
                done.segments += 1;
                if !done.dry_run {
                    replace(segment, &frames)?;
                }
            }
            Err(error) => done
                .skipped
                .push(format!("{}: {error}", segment.path.display())),
        }
    }
    Ok(())
}

/// Returns a segment's frames without the payloads that are due, where there are any.
///
/// # Errors
///
/// When the segment is not whole, or one of its events is not byte for byte the store's.
fn without_due(
    segment: &Segment,
    store: &Store,
    is_due: &impl Fn(&Envelope) -> bool,
) -> Result<Option<Vec<u8>>> {
    let bytes = segment.read()?;
    let goes = |record: &intake::Record<'_>| {
        let has_text = record.payload != codec::NO_PAYLOAD && record.payload != codec::DROPPED;
        has_text && is_due(&record.envelope)
    };
    // Most segments were done long ago, which is seen sooner than that they are whole.
    let mut is_clean = true;
    let mut records = intake::records(&bytes, |_| is_clean = false);
    let is_done =
        !records.any(|record| record.is_err() || record.is_ok_and(|record| goes(&record)));
    drop(records);
    if is_done && is_clean {
        return Ok(None);
    }
    let (mut frames, mut damage) = (Vec::with_capacity(bytes.len()), Vec::new());
    for (expected, record) in
        (segment.first_seq..).zip(intake::records(&bytes, |found| damage.push(found)))
    {
        let record = record?;
        let seq = record.envelope.seq;
        if seq != expected || store.event_value(seq)?.as_deref() != Some(record.event) {
            return Err(Error::damaged(
                "it",
                format!("event {expected} is not the one in the store"),
            ));
        }
        let payload = if goes(&record) {
            &codec::DROPPED[..]
        } else {
            record.payload
        };
        frame::push(
            &mut frames,
            Kind::Envelope,
            &codec::join(record.event, payload),
        );
    }
    match damage.first() {
        Some(found) => Err(Error::damaged("it", format!("{found:?}"))),
        None => Ok(Some(frames)),
    }
}

/// Replaces a sealed segment by other frames. A crash leaves the old or the new one, whole.
fn replace(segment: &Segment, frames: &[u8]) -> Result<()> {
    let temporary = segment.path.with_extension("new");
    intake::write_sealed(&temporary, frames)?;
    let written = Segment {
        path: temporary.clone(),
        ..segment.clone()
    };
    if written.read()? != frames {
        return Err(Error::damaged(
            temporary.display().to_string(),
            "it does not read back as it was written",
        ));
    }
    fs::rename(&temporary, &segment.path).doing("rename", &temporary)?;
    intake::sync_dir(segment.path.parent().unwrap_or(Path::new(".")))
}
