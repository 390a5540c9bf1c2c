//! Takes events out that were read from agents' transcripts (spec LOOK-8). Their places stay, each with an empty event of
//! the daemon's, because sequence numbers are gapless.
//!
//! The store is removed first and built from the log again. A crash in between leaves some of the events in the log;
//! the next attempt removes the rest.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::codec;
use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind};
use crate::imported::ImportedEvents;
use crate::intake::{self, Segment};
use crate::log::{Journal, Options};
use crate::{Envelope, Event, Host, Identity, Renewal, Stream, Timestamp, layout, recovery};

/// Name of the store while it is removed.
const LEAVING: &str = "store.forgotten";

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Number of sessions with removed events.
    pub sessions: u64,
    /// Events.
    pub events: u64,
}

/// Removes all events of sessions that were imported from transcripts, with people's marks on their decisions. Events
/// from hooks of such a session stay, and so do policies: other decisions may be based on them.
///
/// # Errors
///
/// [`Error::Locked`] while another process has the journal open; [`Error::Damaged`] if a segment of the log cannot be read
/// whole: nothing of it is changed then.
pub fn forget_imported(dir: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Forgotten> {
    let last = seal(dir)?;
    let imported = ImportedEvents::load(dir, last);
    let is_past = |envelope: &Envelope| is_from_transcript(envelope) && imported.has(envelope.seq);
    let goes = |envelope: &Envelope| {
        imported.has(envelope.seq) || matches!(envelope.event, Event::MarkedWrong { .. })
    };
    forget(dir, last, is_past, goes, empty, &mut progress)
}

/// Takes the contents of events out that a collector received. Their places and numbers stay, each marked as withheld, so
/// nothing that comes later has a gap before it.
///
/// # Errors
///
/// As [`forget_imported`].
pub fn forget_received(
    dir: &Path,
    goes: impl Fn(&Envelope) -> bool,
    mut progress: impl FnMut(u64, u64),
) -> Result<Forgotten> {
    let last = seal(dir)?;
    let is_content = |envelope: &Envelope| {
        let is_own = matches!(
            envelope.event,
            Event::RunReceived { .. } | Event::Withheld { .. }
        );
        envelope.origin.is_some() && !is_own && goes(envelope)
    };
    forget(dir, last, is_content, is_content, withheld, &mut progress)
}

/// Brings the log up to date, repairs what can be repaired, and seals all of it. Returns the last event.
fn seal(dir: &Path) -> Result<u64> {
    let (journal, recovered) = Journal::open(dir, Options::default())?;
    journal.seal_all()?;
    journal.close();
    Ok(recovered.last_seq)
}

/// Replaces the events that go in the sessions of those that `marks` accepts, and builds the store again.
fn forget(
    dir: &Path,
    last: u64,
    marks: impl Fn(&Envelope) -> bool,
    goes: impl Fn(&Envelope) -> bool,
    instead: fn(&Envelope) -> Envelope,
    progress: &mut impl FnMut(u64, u64),
) -> Result<Forgotten> {
    let lock = recovery::lock(dir)?;
    let segments = intake::segments(&layout::intake_dir(dir))?;
    let sealed = || segments.iter().filter(|segment| segment.is_sealed());
    let mut sessions = HashSet::new();
    for segment in sealed() {
        progress(segment.first_seq / 2, last);
        each(segment, |envelope| {
            sessions.extend(marks(envelope).then_some(envelope.stream.session));
        })?;
    }
    if sessions.is_empty() {
        return Ok(Forgotten::default());
    }
    let goes = |envelope: &Envelope| sessions.contains(&envelope.stream.session) && goes(envelope);
    Identity::renew(dir, Renewal::Forgotten)?;
    remove_store(dir)?;
    let mut events = 0;
    for segment in sealed() {
        progress(last / 2 + segment.first_seq / 2, last);
        events += rewrite(segment, goes, instead)?;
    }
    drop(lock);
    Journal::open(dir, Options::default())?.0.close();
    Ok(Forgotten {
        sessions: sessions.len() as u64,
        events,
    })
}

/// Returns whether an event begins a session that was read from a transcript.
fn is_from_transcript(envelope: &Envelope) -> bool {
    let begins = matches!(envelope.event, Event::SessionStarted { .. });
    let host = envelope.event.host();
    begins && host.is_some_and(|host| host.hook == Host::FROM_TRANSCRIPT)
}

fn remove_store(dir: &Path) -> Result<()> {
    let (store, leaving) = (layout::store_dir(dir), dir.join(LEAVING));
    if leaving.exists() {
        fs::remove_dir_all(&leaving).doing("remove", &leaving)?;
    }
    if store.exists() {
        fs::rename(&store, &leaving).doing("move aside", &store)?;
        intake::sync_dir(dir)?;
        fs::remove_dir_all(&leaving).doing("remove", &leaving)?;
    }
    Ok(())
}

/// Hands all events of a segment to `take`.
fn each(segment: &Segment, mut take: impl FnMut(&Envelope)) -> Result<()> {
    let bytes = segment.read()?;
    let mut damage = Vec::new();
    for record in intake::records(&bytes, |found| damage.push(found)) {
        take(&record?.envelope);
    }
    damage.first().map_or(Ok(()), |found| {
        let problem = format!("{found:?}");
        Err(Error::damaged(segment.path.display().to_string(), problem))
    })
}

/// Rewrites a segment with something else `instead` of the events that go, and returns their number.
fn rewrite(
    segment: &Segment,
    goes: impl Fn(&Envelope) -> bool,
    instead: fn(&Envelope) -> Envelope,
) -> Result<u64> {
    let bytes = segment.read()?;
    let mut frames = Vec::with_capacity(bytes.len());
    let mut events = 0;
    for record in intake::records(&bytes, |_| ()) {
        let record = record?;
        let (event, payload);
        let parts = if goes(&record.envelope) {
            events += 1;
            event = codec::encode_event(&instead(&record.envelope));
            payload = codec::NO_PAYLOAD;
            (event.as_slice(), payload.as_slice())
        } else {
            (record.event, record.payload)
        };
        frame::push(&mut frames, Kind::Envelope, &codec::join(parts.0, parts.1));
    }
    if events > 0 {
        intake::replace_frames(segment, &frames)?;
    }
    Ok(events)
}

/// Returns what stays in an event's place. Its id is new, so that the event can be imported again.
fn empty(envelope: &Envelope) -> Envelope {
    empty_at(envelope.seq, envelope.recorded_at)
}

/// Returns the event that replaces one of which only the number is left.
pub(super) fn empty_at(seq: u64, recorded_at: Timestamp) -> Envelope {
    let stream = Stream::daemon();
    let name = format!("forgotten:{seq}");
    Envelope {
        seq,
        at: recorded_at,
        recorded_at,
        id: Uuid::new_v5(&stream.session, name.as_bytes()),
        stream,
        late: false,
        event: Event::Forgotten {},
        origin: None,
    }
}

/// Returns what stays in the place of an event that a collector received: where it came from, and when.
fn withheld(envelope: &Envelope) -> Envelope {
    let mut left = envelope.clone();
    left.event = Event::Withheld { count: 1 };
    left.stream.native = None;
    let name = format!("forgotten:{}", envelope.seq);
    left.id = Uuid::new_v5(&envelope.id, name.as_bytes());
    if let Some(origin) = &mut left.origin {
        origin.withheld = Vec::new();
    }
    left
}
