//! The proof that intake log and store agree: of all of both for `journal verify`, of their ends after a boot.

use std::path::Path;

use crate::error::{Error, Result};
use crate::frame::Damage;
use crate::intake::{self, Segment};
use crate::layout::intake_dir;
use crate::store::Store;
use crate::{Envelope, Event, codec};

/// Segments at the end of the log whose events are compared with the store after the system has come up.
const SEGMENTS_COMPARED: usize = 2;

/// What [`crate::Journal::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verified {
    /// Nothing is wrong.
    pub ok: bool,
    /// Events in the store.
    pub events: u64,
    /// Events in the intake log.
    pub intake_events: u64,
    /// The first event that the intake log still holds.
    pub intake_from: Option<u64>,
    /// Payloads that compaction dropped on purpose.
    pub payloads_dropped: u64,
    /// What is wrong, one line each.
    pub problems: Vec<String>,
}

/// Compares both sides event by event up to `last`: the daemon may go on writing meanwhile. `progress` gets the events
/// done and the events in all.
pub(crate) fn verify(
    dir: &Path,
    store: &Store,
    last: u64,
    mut progress: impl FnMut(u64, u64),
) -> Result<Verified> {
    let mut verified = Verified::default();
    let mut expected = 1;
    for envelope in store.events_from(1) {
        match envelope {
            Ok(envelope) if envelope.seq > last => break,
            Ok(envelope) => {
                if envelope.seq != expected {
                    verified
                        .problems
                        .push(format!("store: event {expected} is missing"));
                }
                if store.seq_by_id(envelope.id)? != Some(envelope.seq) {
                    verified.problems.push(format!(
                        "store: event {} is not found by its id",
                        envelope.seq
                    ));
                }
                expected = envelope.seq + 1;
                verified.events += 1;
                if verified.events.is_multiple_of(10_000) {
                    progress(verified.events, last * 2);
                }
            }
            Err(error) => {
                // What cannot be read may be refused for ever.
                let is_store = matches!(error, Error::Store { .. });
                verified
                    .problems
                    .push(format!("store: near event {expected}: {error}"));
                if is_store {
                    break;
                }
            }
        }
    }
    if expected <= last {
        verified.problems.push(format!(
            "store: it ends at event {}, {last} were acknowledged",
            expected - 1
        ));
    }
    for (tree, count) in store.counts(last)? {
        if count != verified.events {
            verified.problems.push(format!(
                "store: {count} entries in `{tree}` for {} events",
                verified.events
            ));
        }
    }
    verify_intake(dir, store, last, &mut verified, &mut progress)?;
    verified.ok = verified.problems.is_empty();
    Ok(verified)
}

fn verify_intake(
    dir: &Path,
    store: &Store,
    last: u64,
    verified: &mut Verified,
    progress: &mut impl FnMut(u64, u64),
) -> Result<()> {
    let mut next = None;
    for segment in intake::segments(&intake_dir(dir))? {
        let name = segment.path.display().to_string();
        let bytes = match segment.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                verified.problems.push(format!("intake: {error}"));
                continue;
            }
        };
        let mut damage = Vec::new();
        let records = intake::records(&bytes, |found| damage.push(found));
        for record in records {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    verified.problems.push(format!("intake: {name}: {error}"));
                    break;
                }
            };
            let seq = record.envelope.seq;
            verified.intake_from.get_or_insert(seq);
            // The daemon may go on writing while this runs.
            if seq > last {
                break;
            }
            if next.is_some_and(|next| next != seq) {
                verified.problems.push(format!(
                    "intake: {name}: event {seq} follows {}",
                    next.unwrap_or(1) - 1
                ));
            }
            next = Some(seq + 1);
            verified.intake_events += 1;
            if store.event_value(seq)?.as_deref() != Some(record.event) {
                verified
                    .problems
                    .push(format!("event {seq} differs between intake log and store"));
            }
            if let Err(error) = codec::decode_payload(record.payload) {
                verified
                    .problems
                    .push(format!("intake: event {seq}: {error}"));
            }
            let kept = store.payload_value(seq)?;
            verified.payloads_dropped += u64::from(kept.as_deref() == Some(&codec::DROPPED));
            if !is_same_payload(kept.as_deref(), record.payload) {
                verified.problems.push(format!(
                    "the payload of event {seq} differs between intake log and store"
                ));
            }
        }
        // What is unfinished behind the last event is being written.
        let is_open = !segment.sealed && next == Some(last + 1);
        damage.retain(|found| !(is_open && matches!(found, Damage::Torn { .. })));
        verified.problems.extend(
            damage
                .iter()
                .map(|found| format!("intake: {name}: {found:?}")),
        );
        progress(verified.events + verified.intake_events, last * 2);
    }
    // Segments are never dropped: without the first one the store cannot be rebuilt.
    if let Some(from) = verified.intake_from.filter(|from| *from > 1) {
        verified
            .problems
            .push(format!("intake: events 1 to {} are missing", from - 1));
    }
    Ok(())
}

/// Compares the store with the end of the log, event by event. The store is never synced: a power cut keeps of what was
/// written to it last whatever the disk likes, and few of such holes show at its two ends.
pub(crate) fn compare_tail(store: &Store, segments: &[Segment]) -> Result<()> {
    let mut bytes = Vec::new();
    for segment in segments.iter().rev().take(SEGMENTS_COMPARED) {
        // What of the log cannot be read is told by whoever needs it.
        if segment.read_into(&mut bytes).is_err() {
            continue;
        }
        for record in intake::records(&bytes, |_| ()).map_while(Result::ok) {
            if !has(store, &record)? {
                let seq = record.envelope.seq;
                return Err(Error::damaged(
                    "the store",
                    format!("event {seq} is not as the intake log has it"),
                ));
            }
        }
    }
    Ok(())
}

/// Returns whether the store has a record with what leads to it.
fn has(store: &Store, record: &intake::Record<'_>) -> Result<bool> {
    let Envelope {
        seq,
        id,
        stream,
        event,
        ..
    } = &record.envelope;
    let is_decision = matches!(event, Event::Decided(_));
    Ok(store.event_value(*seq)?.as_deref() == Some(record.event)
        && is_same_payload(store.payload_value(*seq)?.as_deref(), record.payload)
        && store.seq_by_id(*id)? == Some(*seq)
        && store.is_in_stream(stream.session, *seq)?
        && (!is_decision || store.outcome(*seq)?.is_some()))
}

/// Compares payload values of store and log. Compaction takes one side after the other, and a crash in between is mended
/// by the next one.
fn is_same_payload(stored: Option<&[u8]>, logged: &[u8]) -> bool {
    let stored = stored.unwrap_or(&codec::NO_PAYLOAD);
    stored == logged || stored == codec::DROPPED || logged == codec::DROPPED
}
