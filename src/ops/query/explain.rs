//! One decision with all that it was based on, and what became of it.

use std::collections::HashMap;

use checkpoint::Policy;
use checkpoint::decide::Case;
use checkpoint::follow_up::{self, FollowUp};
use checkpoint::replay;
use journal::{Envelope, Event, Journal, Outcome, Reason, Stream, codec};
use serde_json::{Value, json};

use super::delivery::obstacle;
use super::question::{Error, Result};
use super::sessions::find_session;
use crate::ops::views;

fn find_decision(journal: &Journal, seq: Option<u64>, session: Option<&str>) -> Result<Envelope> {
    let session = session
        .map(|session| find_session(journal, session))
        .transpose()?;
    let is_wanted = |envelope: &Envelope| match (&envelope.event, seq) {
        (Event::Decided(decision), Some(seq)) => envelope.seq == seq || decision.trigger == seq,
        (Event::Decided(_), None) => session
            .as_ref()
            .is_none_or(|session| session.stream.session == envelope.stream.session),
        _ => false,
    };
    let before = seq
        .and_then(|seq| seq.checked_add(GAP_MAX))
        .unwrap_or(u64::MAX);
    for decided in journal.decisions_before(before) {
        if let Some(envelope) = journal.event(decided?.0)?
            && is_wanted(&envelope)
        {
            return Ok(envelope);
        }
    }
    Err(Error::NotFound(match seq {
        Some(seq) => format!(
            "event {seq} is no decision, and no decision is about it: `checkpointd audit` lists them"
        ),
        None => "nothing was decided yet".into(),
    }))
}

/// A decision follows its stop within so many events of all sessions.
const GAP_MAX: u64 = 100_000;

/// Returns the decision, its stop, the state before, the evidence, the exits considered, the delivery, when each thing
/// happened, and what became of the demand.
///
/// # Errors
///
/// When there is no such decision, or the journal cannot be read.
pub(super) fn explain(journal: &Journal, seq: Option<u64>, session: Option<&str>) -> Result<Value> {
    let decided = &find_decision(journal, seq, session)?;
    let Event::Decided(decision) = &decided.event else {
        return Err(Error::NotFound(format!(
            "event {} is no decision",
            decided.seq
        )));
    };
    let stream = journal.stream(decided.stream.session, 0, usize::MAX)?;
    let state = replay::fold(
        &decided.stream,
        stream
            .iter()
            .filter(|envelope| envelope.seq <= decision.basis),
    );
    let evidence = stream.iter().find_map(|envelope| match &envelope.event {
        Event::EvidenceGathered { trigger, evidence } if *trigger == decision.trigger => {
            Some((**evidence).clone())
        }
        _ => None,
    });
    let mut policies = policies(journal)?;
    let follow_up = follow_up::of_session(&stream, &policies)
        .into_iter()
        .find(|(seq, _)| *seq == decided.seq);
    let policy = policies.remove(&decision.policy);
    let stop = state
        .pending
        .iter()
        .find(|stop| stop.seq == decision.trigger)
        .cloned();
    let stop = stop.or_else(|| state.restart_stop(decision.trigger));
    let found = evidence.clone().unwrap_or_default();
    let case = stop
        .as_ref()
        .zip(policy.as_ref())
        .map(|(stop, policy)| Case {
            state: &state,
            stop,
            evidence: &found,
            policy,
            fingerprint: decision.policy,
        });
    let considered: Vec<_> = match &case {
        Some(case) if decision.reason != Reason::Overloaded => case
            .considered()
            .into_iter()
            .map(|exit| json!({ "reason": exit.reason, "taken": exit.taken, "why": exit.why }))
            .collect(),
        _ => vec![
            json!({ "reason": decision.reason, "taken": true, "why": "nobody waited for the answer any more" }),
        ],
    };
    let delivery: Vec<_> = stream
        .iter()
        .filter(|envelope| views::is_delivery_of(&envelope.event, decided.seq))
        .collect();
    let trigger = stream
        .iter()
        .find(|envelope| envelope.seq == decision.trigger);
    let times = trigger.map(|trigger| times(trigger, decided, &delivery));
    let trigger = trigger.map(|envelope| -> Result<Value> {
        let payload = journal.payload(envelope.seq)?;
        Ok(codec::to_json(envelope, payload.as_deref()))
    });
    let delivery: Vec<_> = delivery
        .into_iter()
        .map(|envelope| views::without_payload(codec::to_json(envelope, None)))
        .collect();
    let outcome = journal.outcome(decided.seq)?.unwrap_or(Outcome::None);
    Ok(json!({
        "decision": views::decision(decided, decision, outcome, obstacle(journal, decided, outcome)?.as_deref()),
        "event": trigger.transpose()?,
        "state": views::state(&state),
        "evidence": evidence,
        "rules": case.as_ref().map(|case| views::rules(&case.find(), &case.evidence.timeline)),
        "considered": considered,
        "delivery": delivery,
        "times": times,
        "demand": follow_up.map(|(_, follow_up)| ended(&follow_up)),
        "policy": policy,
        "basis": decision.basis,
        "version": decision.version,
    }))
}

/// Says when each thing was in the journal, in microseconds after the stop happened.
fn times(trigger: &Envelope, decided: &Envelope, delivery: &[&Envelope]) -> Value {
    let after = |envelope: &Envelope| envelope.recorded_at.as_micros() - trigger.at.as_micros();
    let steps = [trigger, decided]
        .into_iter()
        .chain(delivery.iter().copied());
    steps
        .map(|envelope| json!({ "kind": envelope.event.kind(), "after_us": after(envelope) }))
        .collect()
}

fn ended(follow_up: &FollowUp) -> Value {
    let (word, left) = match follow_up {
        FollowUp::Open => ("open", &[][..]),
        FollowUp::Fulfilled => ("met", &[][..]),
        FollowUp::Unfulfilled(left) => ("left", left.as_slice()),
        FollowUp::Unknown => ("unknown", &[][..]),
    };
    json!({ "end": word, "left": left })
}

/// Returns every policy that the journal has, by fingerprint.
pub(super) fn policies(journal: &Journal) -> Result<HashMap<u64, Policy>> {
    let mut policies = HashMap::new();
    for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
        if let Event::PolicyAdopted { fingerprint, text } = &envelope.event
            && let Ok(policy) = Policy::from_text(text)
        {
            policies.insert(*fingerprint, policy);
        }
    }
    Ok(policies)
}
