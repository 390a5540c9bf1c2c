//! Compaction drops payloads by their age, and nothing else. All events stay in the intake log and in the store, so
//! folding and verifying decisions still work. A dropped payload is marked as dropped.
//!
//! Every sealed segment with a due payload is rewritten and replaced in one step; then the few due payloads go that the
//! store itself holds. A crash in between leaves such a payload there, where the next compaction drops it. A segment that is
//! damaged, or differs from the store in any event, is left as it is and reported.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, Record, Segment};
use crate::store::Store;
use crate::{Envelope, Timestamp, codec};

/// How long payloads are kept after they were recorded. `None` keeps them forever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For kinds of events that `kinds` does not name.
    pub payloads: Option<Duration>,
    /// By kind of event, as in [`crate::Event::KINDS`].
    pub kinds: Vec<(String, Option<Duration>)>,
}

impl Retention {
    /// Returns whether the payload of an event is due to be dropped. That of an order names its author, and stays.
    pub fn is_due(&self, envelope: &Envelope, now: Timestamp) -> bool {
        if envelope.event.is_order() {
            return false;
        }
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
    /// Number of payloads dropped.
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
    /// Segments that were damaged and repaired from their parity, one line each.
    #[serde(default)]
    pub repaired: Vec<String>,
    /// Segments that were not rewritten and the reason, one line each.
    pub skipped: Vec<String>,
}

/// Returns whether a segment that is not sealed has a due payload up to event `last`.
pub(crate) fn has_due_unsealed(
    dir: &Path,
    last: u64,
    is_due: impl Fn(&Envelope) -> bool,
) -> Result<bool> {
    let segments = intake::segments(dir)?;
    for segment in segments.iter().filter(|segment| !segment.is_sealed()) {
        let bytes = segment.read()?;
        let mut records = intake::records(&bytes, |_| ()).map_while(Result::ok);
        if records.any(|record| record.envelope.seq <= last && has_due(&record, &is_due)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_due(record: &Record<'_>, is_due: impl Fn(&Envelope) -> bool) -> bool {
    let has_text = record.payload != codec::NO_PAYLOAD && record.payload != codec::DROPPED;
    has_text && is_due(&record.envelope)
}

/// Rewrites the sealed segments with due payloads up to event `last`. A dry run counts those of the others, too.
pub(crate) fn rewrite_segments(
    dir: &Path,
    store: &Store,
    last: u64,
    is_due: impl Fn(&Envelope) -> bool,
    done: &mut Compacted,
    progress: &mut impl FnMut(u64, u64),
) -> Result<()> {
    let dry_run = done.dry_run;
    for segment in intake::segments(dir)?
        .iter()
        .filter(|segment| segment.first_seq <= last && (dry_run || segment.is_sealed()))
    {
        if segment.first_seq > 1 {
            progress(segment.first_seq, last);
        }
        if !segment.is_sealed() {
            count_due(segment, last, &is_due, done)?;
            continue;
        }
        if !dry_run {
            // What cannot be repaired is reported below.
            done.repaired.extend(segment.examine().ok().flatten());
        }
        match without_due(segment, store, &is_due) {
            Ok(None) => {}
            Ok(Some(rewritten)) => {
                done.segments += 1;
                done.payloads += rewritten.payloads;
                done.payload_bytes += rewritten.payload_bytes;
                if !dry_run {
                    intake::replace_frames(segment, &rewritten.frames)?;
                    store.log_changed();
                }
            }
            Err(error) => done
                .skipped
                .push(format!("{}: {error}", segment.path.display())),
        }
    }
    Ok(())
}

/// Counts the due payloads of a segment that is being written.
fn count_due(
    segment: &Segment,
    last: u64,
    is_due: &impl Fn(&Envelope) -> bool,
    done: &mut Compacted,
) -> Result<()> {
    let bytes = segment.read()?;
    for record in intake::records(&bytes, |_| ()).map_while(Result::ok) {
        if record.envelope.seq <= last && has_due(&record, is_due) {
            done.payloads += 1;
            done.payload_bytes += record.payload.len() as u64;
        }
    }
    Ok(())
}

/// Drops the due payloads that the store itself holds.
pub(crate) fn drop_kept(
    store: &Store,
    last: u64,
    is_due: impl Fn(&Envelope) -> bool,
    done: &mut Compacted,
) -> Result<()> {
    if done.dry_run {
        return Ok(());
    }
    for envelope in store.kept_from(1) {
        let envelope = envelope?;
        if envelope.seq > last {
            break;
        }
        let kept = store.kept_payload(envelope.seq)?;
        if is_due(&envelope) && kept.is_some_and(|kept| *kept != codec::DROPPED) {
            store.drop_payload(envelope.seq)?;
        }
    }
    Ok(())
}

/// A segment's frames without the due payloads.
struct Rewritten {
    frames: Vec<u8>,
    payloads: u64,
    payload_bytes: u64,
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
) -> Result<Option<Rewritten>> {
    let bytes = segment.read()?;
    let goes = |record: &Record<'_>| has_due(record, is_due);
    // Most segments have no due payload; finding that out is cheaper than comparing them with the store.
    let mut is_clean = true;
    let mut records = intake::records(&bytes, |_| is_clean = false);
    let is_done =
        !records.any(|record| record.is_err() || record.is_ok_and(|record| goes(&record)));
    drop(records);
    if is_done && is_clean {
        return Ok(None);
    }
    let mut rewritten = Rewritten {
        frames: Vec::with_capacity(bytes.len()),
        payloads: 0,
        payload_bytes: 0,
    };
    let mut damage = Vec::new();
    for (expected, record) in
        (segment.first_seq..).zip(intake::records(&bytes, |found| damage.push(found)))
    {
        let record = record?;
        let seq = record.envelope.seq;
        let kept = store.kept_event(seq)?;
        if seq != expected || kept.is_some_and(|kept| *kept != *record.event) {
            let problem = format!("event {expected} differs from the store");
            return Err(Error::damaged("it", problem));
        }
        let payload = if goes(&record) {
            rewritten.payloads += 1;
            rewritten.payload_bytes += record.payload.len() as u64;
            &codec::DROPPED[..]
        } else {
            record.payload
        };
        frame::push(
            &mut rewritten.frames,
            Kind::Envelope,
            &codec::join(record.event, payload),
        );
    }
    match damage.first() {
        Some(found) => Err(Error::damaged("it", format!("{found:?}"))),
        None => Ok(Some(rewritten)),
    }
}
