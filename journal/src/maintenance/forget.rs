//! Takes events out that were read from agents' transcripts (spec LOOK-8). Their places stay, each with an empty event of
//! the daemon's, because sequence numbers are gapless.
//!
//! The store is removed first and built from the log again. A crash in between leaves some of the events in the log; the
//! next attempt takes out the rest.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::compact::replace;
use crate::codec;
use crate::error::{Doing, Error, Result};
use crate::frame::{self, Kind};
use crate::imported::ImportedEvents;
use crate::intake::{self, Segment};
use crate::log::{Journal, Options};
use crate::{Envelope, Event, Host, Identity, Renewal, Stream, layout, recovery};

/// The store on its way out.
const LEAVING: &str = "store.forgotten";

/// What was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Sessions of which events were taken out.
    pub sessions: u64,
    /// Events.
    pub events: u64,
}

/// Takes out all events of sessions that were imported from transcripts, with what people said about their decisions.
/// What hooks reported of such a session stays, and so do policies: other decisions may be based on them.
///
/// # Errors
///
/// [`Error::Locked`] while another process has the journal open; [`Error::Damaged`] if a segment of the log cannot be read
/// whole: nothing of it is changed then.
pub fn forget_imported(dir: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Forgotten> {
    // Brings the log up to date, and repairs what can be repaired.
    let (journal, recovered) = Journal::open(dir, Options::default())?;
    journal.seal_all()?;
    journal.close();
    drop(journal);
    let forgotten = forget(dir, recovered.last_seq, &mut progress)?;
    if forgotten.events > 0 {
        // Builds the store.
        Journal::open(dir, Options::default())?.0.close();
    }
    Ok(forgotten)
}

fn forget(dir: &Path, last: u64, progress: &mut impl FnMut(u64, u64)) -> Result<Forgotten> {
    let _lock = recovery::lock(dir)?;
    let imported = ImportedEvents::load(dir, last);
    let segments = intake::segments(&layout::intake_dir(dir))?;
    let sealed = || segments.iter().filter(|segment| segment.sealed);
    let mut sessions = HashSet::new();
    for segment in sealed() {
        progress(segment.first_seq / 2, last);
        each(segment, |envelope| {
            let is_past = is_from_transcript(envelope) && imported.has(envelope.seq);
            sessions.extend(is_past.then_some(envelope.stream.session));
        })?;
    }
    if sessions.is_empty() {
        return Ok(Forgotten::default());
    }
    let goes = |envelope: &Envelope| {
        let is_mark = matches!(envelope.event, Event::MarkedWrong { .. });
        sessions.contains(&envelope.stream.session) && (imported.has(envelope.seq) || is_mark)
    };
    Identity::renew(dir, Renewal::Forgotten)?;
    remove_store(dir)?;
    let mut forgotten = Forgotten {
        sessions: sessions.len() as u64,
        events: 0,
    };
    for segment in sealed() {
        progress(last / 2 + segment.first_seq / 2, last);
        forgotten.events += rewrite(segment, goes)?;
    }
    Ok(forgotten)
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
        Err(Error::damaged(
            segment.path.display().to_string(),
            format!("{found:?}"),
        ))
    })
}

/// Rewrites a segment without the events that go, and returns their number.
fn rewrite(segment: &Segment, goes: impl Fn(&Envelope) -> bool) -> Result<u64> {
    let bytes = segment.read()?;
    let mut frames = Vec::with_capacity(bytes.len());
    let mut events = 0;
    for record in intake::records(&bytes, |_| ()) {
        let record = record?;
        let (event, payload);
        let parts = if goes(&record.envelope) {
            events += 1;
            event = codec::encode_event(&empty(&record.envelope));
            payload = codec::NO_PAYLOAD;
            (event.as_slice(), payload.as_slice())
        } else {
            (record.event, record.payload)
        };
        frame::push(&mut frames, Kind::Envelope, &codec::join(parts.0, parts.1));
    }
    if events > 0 {
        replace(segment, &frames)?;
    }
    Ok(events)
}

/// Returns what stays in an event's place. Its id is new, so that the event can be imported again.
fn empty(envelope: &Envelope) -> Envelope {
    let stream = Stream::daemon();
    let name = format!("forgotten:{}", envelope.seq);
    Envelope {
        seq: envelope.seq,
        at: envelope.recorded_at,
        recorded_at: envelope.recorded_at,
        id: Uuid::new_v5(&stream.session, name.as_bytes()),
        stream,
        late: false,
        event: Event::Forgotten {},
        origin: None,
    }
}
