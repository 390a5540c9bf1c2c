//! Compaction drops payloads by their age, and nothing else. All events stay in the intake log and in the store, so
//! folding and verifying decisions still work. A dropped payload is marked as dropped on both sides.
//!
//! The store is changed first; then every sealed segment with a due payload is rewritten and replaced in one step. A crash
//! in between leaves a payload on one side only, where the next compaction drops it. A segment that is damaged, or differs
//! from the store in any event, is left as it is and reported.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, Segment};
use crate::store::Store;
use crate::{Envelope, Timestamp, codec};

/// Events between two calls of a progress callback.
const PROGRESS_INTERVAL: u64 = 10_000;

/// How long payloads are kept after they were recorded. `None` keeps them forever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For kinds of events that `kinds` does not name.
    pub payloads: Option<Duration>,
    /// By kind of event, as in [`crate::Event::KINDS`].
    pub kinds: Vec<(String, Option<Duration>)>,
}

impl Retention {
    /// Returns whether the payload of an event is due to be dropped.
    pub fn is_due(&self, envelope: &Envelope, now: Timestamp) -> bool {
        let kind = envelope.event.kind();
        let own = self.kinds.iter().find(|(name, _)| name == kind);
        let kept = own.map_or(self.payloads, |(_, kept)| *kept);
        kept.is_some_and(|kept| envelope.recorded_at.plus(kept) <= now)
    }
}

/// The result of a compaction. All sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// Nothing was changed; the numbers say what a compaction would do.
    pub dry_run: bool,
    /// Number of payloads dropped from the store.
    pub payloads: u64,
    /// Their stored size.
    pub payload_bytes: u64,
    /// Number of rewritten segments of the intake log.
    pub segments: u64,
    /// Size of the intake log before.
    pub intake_bytes_before: u64,
    /// Size of the intake log now.
    pub intake_bytes: u64,
    /// Size of the store before.
    pub store_bytes_before: u64,
    /// Size of the store now. The store reuses freed space; only [`super::pack`] returns it to the system.
    pub store_bytes: u64,
    /// Segments that were not rewritten and the reason, one line each.
    pub skipped: Vec<String>,
}

/// Drops due payloads from the store. Returns the last event that is due and has or had a payload.
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
        if envelope.seq.is_multiple_of(PROGRESS_INTERVAL) {
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

/// Rewrites the sealed segments with due payloads, up to event `last`.
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

/// Returns a segment's frames without the due payloads; `None` if it has none.
///
/// # Errors
///
/// If the segment is damaged, or one of its events differs from the store's in any byte.
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
    // Most segments have no due payload; finding that out is cheaper than comparing them with the store.
    let mut is_clean = true;
    let mut records = intake::records(&bytes, |_| is_clean = false);
    let is_done =
        !records.any(|record| record.is_err() || record.is_ok_and(|record| goes(&record)));
    drop(records);
    if is_done && is_clean {
        return Ok(None);
    }
    let mut frames = Vec::with_capacity(bytes.len());
    let mut damage = Vec::new();
    for (expected, record) in
        (segment.first_seq..).zip(intake::records(&bytes, |found| damage.push(found)))
    {
        let record = record?;
        let seq = record.envelope.seq;
        if seq != expected || store.event_value(seq)?.as_deref() != Some(record.event) {
            return Err(Error::damaged(
                "it",
                format!("event {expected} differs from the store"),
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

/// Replaces the frames of a sealed segment. A crash leaves the old or the new segment complete.
pub(super) fn replace(segment: &Segment, frames: &[u8]) -> Result<()> {
    let temporary = segment.path.with_extension("new");
    intake::write_sealed(&temporary, frames)?;
    let written = Segment {
        path: temporary.clone(),
        ..segment.clone()
    };
    if written.read()? != frames {
        return Err(Error::damaged(
            temporary.display().to_string(),
            "it reads back differently than it was written",
        ));
    }
    fs::rename(&temporary, &segment.path).doing("rename", &temporary)?;
    intake::sync_dir(segment.path.parent().unwrap_or(Path::new(".")))
}
