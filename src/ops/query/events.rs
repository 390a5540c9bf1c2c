//! Events in order, and one event.

use std::collections::VecDeque;

use journal::{Envelope, Journal};

use super::filter::Whose;
use super::question::{Emit, Error, Events, Outgoing, Result, send};
use crate::ops::fleet::{self, Level};
use crate::ops::views::EventLine;

pub(super) fn list(journal: &Journal, wanted: &Events, emit: &mut Emit<'_>) -> Result<()> {
    let mut whose = Whose::new(
        journal,
        wanted.session.as_deref(),
        wanted.agent,
        wanted.project.as_deref(),
        wanted.machine.as_deref(),
    )?;
    let mut fits = |envelope: &Envelope| -> Result<bool> {
        let kind = wanted.kind.as_deref();
        Ok(kind.is_none_or(|kind| envelope.event.kind() == kind) && whose.fits(envelope)?)
    };
    let from = match wanted.last {
        Some(count) if wanted.takes_all() => wanted
            .from
            .max((journal.last_seq() + 1).saturating_sub(count)),
        Some(count) => {
            let mut newest = VecDeque::new();
            for envelope in journal.events_from(wanted.from) {
                let envelope = envelope?;
                if fits(&envelope)? {
                    newest.push_back(envelope.seq);
                    if newest.len() as u64 > count {
                        newest.pop_front();
                    }
                }
            }
            newest.front().copied().unwrap_or(u64::MAX)
        }
        None => wanted.from,
    };
    for envelope in journal.events_from(from.max(1)) {
        let envelope = envelope?;
        if fits(&envelope)? {
            let mut line = EventLine::new(envelope);
            line.is_export = wanted.export;
            if wanted.payloads {
                line.payload = Some(journal.kept_payload(line.event.seq)?);
            }
            send(emit, &line)?;
        }
    }
    Ok(())
}

pub(super) fn one(journal: &Journal, seq: u64) -> Result<EventLine> {
    let event = journal
        .event(seq)?
        .ok_or_else(|| Error::NotFound(format!("there is no event {seq}")))?;
    let payload = Some(journal.kept_payload(seq)?);
    Ok(EventLine {
        payload,
        ..EventLine::new(event)
    })
}

/// Emits the lines of runs, or with a time the lines of the events since then, each as a text: their bytes are hashed.
pub(super) fn outgoing(journal: &Journal, wanted: &Outgoing, emit: &mut Emit<'_>) -> Result<()> {
    let level = Level::of_word(&wanted.level)
        .ok_or_else(|| Error::NotFound(format!("there is no level `{}`", wanted.level)))?;
    if journal.is_collector() {
        return Err(Error::NotFound(
            "this journal has the events of other machines: ask each machine itself".into(),
        ));
    }
    let mut is_gone = false;
    let mut each = |line: String| {
        is_gone = !emit(line.into());
        !is_gone
    };
    match wanted.since {
        None => fleet::export(journal, level, &wanted.machine, &mut each)?,
        Some(since) => fleet::preview(journal, level, since, &mut each)?,
    }
    if is_gone { Err(Error::Gone) } else { Ok(()) }
}
