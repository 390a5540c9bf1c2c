//! Checks that the intake log and the store agree: completely for `journal verify`, at their ends after a boot.

use std::collections::HashSet;
use std::path::Path;

use crate::chain::Chain;
use crate::error::{Error, Result};
use crate::frame::Damage;
use crate::intake::{self, Record, Segment};
use crate::layout::intake_dir;
use crate::store::Store;
use crate::{Envelope, Event, Identity, codec};

/// Segments at the end of the log whose events are compared with the store at the first start after a boot.
const SEGMENTS_COMPARED: usize = 8;

/// What [`crate::Journal::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Verified {
    /// Whether there are no problems.
    pub ok: bool,
    /// Number of events that the store finds.
    pub events: u64,
    /// Number of events in the intake log.
    pub intake_events: u64,
    /// The first event of the intake log.
    pub intake_from: Option<u64>,
    /// Number of payloads that compaction has dropped.
    pub payloads_dropped: u64,
    /// The chain of the whole journal, if it has an identity and is whole: equal for equal journals (spec FLEET-2).
    #[serde(default)]
    pub chain: Option<String>,
    /// Segments of the log that were damaged and repaired from their parity, one line each.
    #[serde(default)]
    pub repaired: Vec<String>,
    /// The problems found, one line each.
    pub problems: Vec<String>,
}

/// Compares both sides event by event up to `last`, so the daemon may append meanwhile. `progress` gets the number of
/// events done and of all events.
pub(crate) fn verify(
    dir: &Path,
    store: &Store,
    last: u64,
    mut progress: impl FnMut(u64, u64),
) -> Result<Verified> {
    let mut check = Check {
        store,
        last,
        next: None,
        chain: Identity::of(dir).ok().map(|own| Chain::new(own.journal)),
        decisions: HashSet::new(),
        found: Verified::default(),
    };
    check.kept_events()?;
    for segment in intake::segments(&intake_dir(dir))? {
        check.segment(&segment)?;
        progress(check.found.intake_events, last);
    }
    if check.next.is_some_and(|next| next <= last) {
        let next = check.next.unwrap_or(1);
        check.report(format!("intake: events {next} to {last} are missing"));
    }
    // Segments are never dropped: without the first one the store cannot be rebuilt.
    if let Some(from) = check.found.intake_from.filter(|from| *from > 1) {
        check.report(format!("intake: events 1 to {} are missing", from - 1));
    }
    check.entries()?;
    check.found.ok = check.found.problems.is_empty();
    let whole = check.chain.take().filter(|chain| chain.seq == last);
    let whole = whole.filter(|_| check.found.ok);
    check.found.chain = whole.map(|chain| format!("sha256:{}", chain.text()));
    Ok(check.found)
}

struct Check<'a> {
    store: &'a Store,
    last: u64,
    /// The event that the intake log must have next; `None` before its first one.
    next: Option<u64>,
    chain: Option<Chain>,
    /// The decisions of the intake log, and what its deliveries name as one.
    decisions: HashSet<u64>,
    found: Verified,
}

impl Check<'_> {
    fn report(&mut self, problem: String) {
        self.found.problems.push(problem);
    }

    /// The last one marks how much the store has.
    fn kept_events(&mut self) -> Result<()> {
        let mut end = 0;
        for envelope in self.store.kept_from(1) {
            match envelope {
                Ok(envelope) if envelope.seq > self.last => {
                    end = self.last;
                    break;
                }
                Ok(envelope) => end = envelope.seq,
                Err(error) => {
                    self.report(format!("store: behind event {end}: {error}"));
                    // sled may return such an error again and again.
                    if matches!(error, Error::Store { .. }) {
                        break;
                    }
                }
            }
        }
        if end < self.last {
            self.report(format!(
                "store: it ends at event {end}, {} were acknowledged",
                self.last
            ));
        }
        Ok(())
    }

    /// Checks that an event of the log is found by its id and in its session.
    fn indexes(&mut self, envelope: &Envelope) -> Result<()> {
        let seq = envelope.seq;
        let by_id = self.store.seq_by_id(envelope.id)? == Some(seq);
        let in_stream = self.store.is_in_stream(envelope.stream.session, seq)?;
        self.found.events += u64::from(by_id && in_stream);
        if !by_id {
            self.report(format!("store: event {seq} is not found by its id"));
        }
        if !in_stream {
            self.report(format!("store: event {seq} is not found in its session"));
        }
        Ok(())
    }

    /// Checks that the indexes have no entries beyond those that were looked up.
    fn entries(&mut self) -> Result<()> {
        let indexed = self.store.indexed(self.last)?;
        let all = [
            ("ids", indexed.ids, self.last),
            ("sessions", indexed.streams, self.last),
            ("decisions", indexed.decisions, self.decisions.len() as u64),
        ];
        for (name, found, known) in all {
            // Missing ones are named where they are missing.
            if found > known && self.found.problems.is_empty() {
                let more = found - known;
                let problem = format!("store: its index of {name} has {more} entries of no event");
                self.report(problem);
            }
        }
        Ok(())
    }

    /// Compares the events of a segment with the store.
    fn segment(&mut self, segment: &Segment) -> Result<()> {
        let name = segment.path.display().to_string();
        // What cannot be repaired is reported as it is read.
        self.found.repaired.extend(segment.examine().ok().flatten());
        let bytes = match segment.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                self.report(format!("intake: {error}"));
                segment.salvage()
            }
        };
        let mut damage = Vec::new();
        for record in intake::records(&bytes, |found| damage.push(found)) {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    self.report(format!("intake: {name}: {error}"));
                    break;
                }
            };
            let seq = record.envelope.seq;
            self.found.intake_from.get_or_insert(seq);
            // Appended since the verification began.
            if seq > self.last {
                break;
            }
            if let Some(next) = self.next.filter(|next| *next != seq) {
                let problem = match next < seq {
                    true => format!("events {next} to {} are missing", seq - 1),
                    false => format!("event {seq} follows {}", next - 1),
                };
                self.report(format!("intake: {name}: {problem}"));
            }
            self.next = Some(seq + 1);
            self.record(&record)?;
        }
        // An unfinished frame after the last event is being written.
        let is_open = !segment.is_sealed() && self.next == Some(self.last + 1);
        damage.retain(|found| !(is_open && matches!(found, Damage::Torn { .. })));
        for found in damage {
            self.report(format!("intake: {name}: {found:?}"));
        }
        Ok(())
    }

    /// Compares one event of the intake log with the store.
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let seq = record.envelope.seq;
        self.found.intake_events += 1;
        match &record.envelope.event {
            Event::Decided(_) => {
                self.decisions.insert(seq);
            }
            Event::DeliveryConfirmed { decision, .. }
            | Event::DeliveryFailed { decision, .. }
            | Event::DeliveryExpired { decision, .. } => {
                self.decisions.insert(*decision);
            }
            _ => {}
        }
        if let Some(chain) = self.chain.as_mut().filter(|chain| chain.seq + 1 == seq) {
            chain.take(record.event);
        }
        let kept = self.store.kept_event(seq)?;
        if kept.as_deref().is_some_and(|kept| kept != record.event) {
            self.report(format!("event {seq} differs between intake log and store"));
        }
        self.indexes(&record.envelope)?;
        if let Err(error) = codec::decode_payload(record.payload) {
            self.report(format!("intake: event {seq}: {error}"));
        }
        let was_kept = kept.is_some();
        let kept = self.store.kept_payload(seq)?;
        // The store may have let go of both meanwhile, of the payload last.
        let is_kept = was_kept && self.store.kept_event(seq)?.is_some();
        let is_dropped =
            kept.as_deref() == Some(&codec::DROPPED) || record.payload == codec::DROPPED;
        self.found.payloads_dropped += u64::from(is_dropped);
        if is_kept && !codec::is_same_payload(kept.as_deref(), record.payload) {
            self.report(format!(
                "the payload of event {seq} differs between intake log and store"
            ));
        }
        Ok(())
    }
}

/// Compares the store with the end of the log, event by event. The store is never synced: after a power cut any of its
/// last writes may be missing, and checks of its first and last events find few such holes.
pub(crate) fn compare_tail(store: &Store, segments: &[Segment]) -> Result<()> {
    let mut bytes = Vec::new();
    for segment in segments.iter().rev().take(SEGMENTS_COMPARED) {
        // Readers that need the segment report the error.
        if segment.read_into(&mut bytes).is_err() {
            continue;
        }
        for record in intake::records(&bytes, |_| ()).map_while(Result::ok) {
            if !is_stored(store, &record)? {
                let seq = record.envelope.seq;
                let problem = format!("event {seq} differs from the intake log");
                return Err(Error::damaged("the store", problem));
            }
        }
    }
    Ok(())
}

/// Returns whether the store has a record, with all of its index entries.
fn is_stored(store: &Store, record: &Record<'_>) -> Result<bool> {
    let Envelope {
        seq,
        id,
        stream,
        event,
        ..
    } = &record.envelope;
    let is_decision = matches!(event, Event::Decided(_));
    Ok(store.event_value(*seq)?.as_deref() == Some(record.event)
        && codec::is_same_payload(store.payload_value(*seq)?.as_deref(), record.payload)
        && store.seq_by_id(*id)? == Some(*seq)
        && store.is_in_stream(stream.session, *seq)?
        && (!is_decision || store.outcome(*seq)?.is_some()))
}
