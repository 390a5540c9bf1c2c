//! Events in order, one event, and how many there are.

use std::collections::{BTreeMap, VecDeque};

use journal::{Agent, Envelope, Journal, Payload, codec};
use serde_json::{Value, json};

use super::filter::Whose;
use super::question::{Emit, Error, Events, Result, send};
use crate::ops::views;

pub(super) fn list(journal: &Journal, wanted: &Events, emit: &mut Emit<'_>) -> Result<()> {
    let mut whose = Whose::new(
        journal,
        wanted.session.as_deref(),
        wanted.agent,
        wanted.project.as_deref(),
    )?;
    let mut fits =
        |envelope: &Envelope| -> Result<bool> {
            let kind = wanted.kind.as_deref();
            Ok(kind.is_none_or(|kind| envelope.event.kind() == kind)
                && whose.fits(&envelope.stream)?)
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
            let payload = if wanted.payloads {
                journal.kept_payload(envelope.seq)?
            } else {
                Payload::None
            };
            let line = codec::to_export(&envelope, &payload);
            send(
                emit,
                if wanted.payloads {
                    line
                } else {
                    views::without_payload(line)
                },
            )?;
        }
    }
    Ok(())
}

pub(super) fn one(journal: &Journal, seq: u64) -> Result<Value> {
    let envelope = journal
        .event(seq)?
        .ok_or_else(|| Error::NotFound(format!("there is no event {seq}")))?;
    Ok(codec::to_export(&envelope, &journal.kept_payload(seq)?))
}

pub(super) fn stats(journal: &Journal) -> Result<Value> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut agents: BTreeMap<&'static str, u64> = BTreeMap::new();
    for envelope in journal.history(1..=u64::MAX, |_| true)? {
        let envelope = envelope?;
        *kinds.entry(envelope.event.kind()).or_default() += 1;
        *agents.entry(envelope.stream.agent.word()).or_default() += 1;
    }
    let (store, intake) = journal.disk_bytes();
    let sessions = journal
        .sessions()
        .iter()
        .filter(|entry| entry.stream.agent != Agent::Daemon)
        .count();
    Ok(json!({
        "events": journal.last_seq(),
        "sessions": sessions,
        "store_bytes": store,
        "intake_bytes": intake,
        "kinds": kinds,
        "agents": agents,
    }))
}
