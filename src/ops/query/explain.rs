//! One decision with its evidence and policy, and its outcome.

use std::collections::BTreeMap;

use checkpoint::Policy;
use checkpoint::decide::{Case, Considered, is_unanswered};
use checkpoint::follow_up;
use checkpoint::gathered::Gathered;
use checkpoint::replay;
use checkpoint::state::SessionState;
use journal::{DECISION_VERSION, Decision, Envelope, Event, Evidence, Journal, Outcome, Verdict};
use uuid::Uuid;

use super::audit::{leaving, obstacle};
use super::marks::Marks;
use super::open::policies;
use super::question::{Emit, Error, Result, send};
use super::sessions::find_session_on;
use crate::ops::views::{
    DecisionRow, Demand, EventLine, Explanation, OtherStop, RulesView, StateView, Subagents,
    TimeAfter,
};

/// The smallest number that may be the short id of a session: eight digits.
const SHORT_ID_MIN: u64 = 10_000_000;

fn find_decision(
    journal: &Journal,
    seq: Option<u64>,
    (session, machine): (Option<&str>, Option<&str>),
) -> Result<Envelope> {
    let session = session
        .map(|session| find_session_on(journal, session, machine))
        .transpose()?;
    let Some(seq) = seq else {
        let of = session.as_ref().map(|session| session.stream.session);
        return last_decision(journal, of, machine);
    };
    if let Some(machine) = machine {
        return decision_on(journal, seq, machine);
    }
    for decided in journal.decisions_before(seq.saturating_add(GAP_MAX)) {
        if let Some(envelope) = journal.event(decided?.0)?
            && let Event::Decided(decision) = &envelope.event
            && (envelope.seq == seq || decision.trigger == seq)
        {
            return Ok(envelope);
        }
    }
    // The short id of a session may have digits only.
    if seq >= SHORT_ID_MIN
        && let Ok(entry) = find_session_on(journal, &seq.to_string(), None)
    {
        return last_decision(journal, Some(entry.stream.session), None);
    }
    Err(Error::NotFound(format!(
        "event {seq} is not a decision, and no decision is about it: `checkpointd audit` lists them"
    )))
}

/// Finds a decision by its number, or its stop's, in its machine's journal.
fn decision_on(journal: &Journal, seq: u64, machine: &str) -> Result<Envelope> {
    for decided in journal.decisions_before(u64::MAX) {
        let Some(envelope) = journal.event(decided?.0)? else {
            continue;
        };
        let Event::Decided(decision) = &envelope.event else {
            continue;
        };
        if !is_of(&envelope, machine) {
            continue;
        }
        let there = |event: &Envelope| event.origin.as_ref().map(|origin| origin.seq);
        let trigger = journal.event(decision.trigger)?;
        if there(&envelope) == Some(seq) || trigger.as_ref().and_then(there) == Some(seq) {
            return Ok(envelope);
        }
    }
    Err(Error::NotFound(format!(
        "event {seq} of {machine} is not a decision, and no decision is about it: `checkpointd audit --machine {machine}` lists them"
    )))
}

fn is_of(envelope: &Envelope, machine: &str) -> bool {
    let origin = envelope.origin.as_deref();
    origin.is_some_and(|origin| origin.machine == machine)
}

/// Returns the last decision that sent a checkpoint, among the newest, or without one the last decision.
fn last_decision(
    journal: &Journal,
    session: Option<Uuid>,
    machine: Option<&str>,
) -> Result<Envelope> {
    let mut newest = None;
    for decided in journal.decisions_before(u64::MAX).take(NEWEST_MAX) {
        let Some(envelope) = journal.event(decided?.0)? else {
            continue;
        };
        let Event::Decided(decision) = &envelope.event else {
            continue;
        };
        if session.is_some_and(|session| session != envelope.stream.session)
            || machine.is_some_and(|machine| !is_of(&envelope, machine))
        {
            continue;
        }
        if decision.verdict == Verdict::Inject {
            return Ok(envelope);
        }
        newest.get_or_insert(envelope);
    }
    newest.ok_or_else(|| Error::NotFound("nothing was decided yet".into()))
}

/// The most decisions that are looked through for the last checkpoint.
const NEWEST_MAX: usize = 10_000;
/// The most events of all sessions between a stop and its decision.
const GAP_MAX: u64 = 100_000;

/// Emits a decision with its evidence, policy and outcome. `of` names its session and its machine.
///
/// # Errors
///
/// When there is no such decision, or the journal cannot be read.
pub(super) fn explain(
    journal: &Journal,
    seq: Option<u64>,
    of: (Option<&str>, Option<&str>),
    emit: &mut Emit<'_>,
) -> Result<()> {
    let decided = find_decision(journal, seq, of)?;
    send(emit, &explained(journal, &decided)?)
}

fn explained(journal: &Journal, decided: &Envelope) -> Result<Explanation> {
    let Event::Decided(decision) = &decided.event else {
        let text = format!("event {} is not a decision", decided.seq);
        return Err(Error::NotFound(text));
    };
    let stream = journal.stream(decided.stream.session, 0, usize::MAX)?;
    let known = stream
        .iter()
        .filter(|envelope| envelope.seq <= decision.basis);
    let state = replay::fold(&decided.stream, known);
    let mut gathered = Gathered::default();
    for envelope in stream.iter().filter(|envelope| envelope.seq < decided.seq) {
        if let Event::FactsGathered { trigger, .. } | Event::EvidenceGathered { trigger, .. } =
            &envelope.event
            && *trigger == decision.trigger
        {
            gathered.feed(&mut envelope.event.clone());
        }
    }
    let evidence = gathered.take(decision.trigger);
    let mut policies = policies(journal)?;
    let followed = follow_up::of_session(&stream, &policies)
        .into_iter()
        .find(|followed| followed.decision == decided.seq);
    let policy = policies.remove(&decision.policy);
    let is_withheld = state.withheld || decided.is_withheld();
    let (considered, rules) = if is_withheld {
        let why = "the machine withholds what it was based on";
        (vec![only_exit(decision, why)], None)
    } else if decision.version < DECISION_VERSION {
        (vec![only_exit(decision, replay::EARLIER)], None)
    } else {
        why(decision, &state, evidence.as_ref(), policy.as_ref())
    };
    let delivery: Vec<_> = stream
        .iter()
        .filter(|envelope| is_delivery_of(&envelope.event, decided.seq))
        .collect();
    let trigger = stream
        .iter()
        .find(|envelope| envelope.seq == decision.trigger);
    let times = trigger.map(|trigger| times(trigger, decided, &delivery));
    let event = trigger.map(|envelope| -> Result<EventLine> {
        Ok(EventLine {
            payload: Some(journal.payload(envelope.seq)?.into()),
            ..EventLine::new(envelope.clone())
        })
    });
    let others = others(&stream, decided, decision.turn);
    let outcome = journal.outcome(decided.seq)?.unwrap_or(Outcome::None);
    let obstacle = obstacle(journal, decided, outcome)?;
    Ok(Explanation {
        decision: DecisionRow::new(decided, decision, outcome, obstacle),
        event: event.transpose()?,
        state: StateView::new(&state),
        rules,
        considered,
        delivery: delivery.into_iter().cloned().map(EventLine::new).collect(),
        times,
        marked_wrong: Marks::of_session(&stream).of(decided.seq),
        demand: followed.and_then(Demand::of),
        // Parts of it are missing, and an empty list would say that there was nothing.
        evidence: evidence.filter(|_| !is_withheld),
        policy,
        basis: decision.basis,
        version: decision.version,
        subagents: match is_withheld {
            true => BTreeMap::new(),
            false => Subagents::by_call(&stream),
        },
        others,
    })
}

/// Returns the session's other decisions of the turn, and what was decided after the turn last.
fn others(stream: &[Envelope], decided: &Envelope, turn: u64) -> Vec<OtherStop> {
    let leaving = leaving(stream);
    let is_stop = |decision: &Decision| !leaving.contains(&decision.trigger);
    let decisions = stream.iter().filter_map(|envelope| match &envelope.event {
        Event::Decided(decision) if envelope.seq != decided.seq && is_stop(decision) => {
            Some((envelope, decision))
        }
        _ => None,
    });
    let last = decisions.clone().next_back().map(|(last, _)| last.seq);
    decisions
        .filter(|(envelope, decision)| decision.turn == turn || Some(envelope.seq) == last)
        .filter(|(envelope, decision)| decision.turn == turn || envelope.seq > decided.seq)
        .map(|(envelope, decision)| OtherStop {
            seq: envelope.seq,
            at: envelope.at,
            turn: decision.turn,
            verdict: decision.verdict,
            reason: decision.reason,
        })
        .collect()
}

/// Returns the exit that was taken, with the reason why the others are not known.
fn only_exit(decision: &Decision, why: &str) -> Considered {
    Considered {
        reason: decision.reason,
        taken: true,
        why: why.to_owned(),
    }
}

/// Decides again, and returns the exits that were considered and what the rules found.
fn why(
    decision: &Decision,
    state: &SessionState,
    evidence: Option<&Evidence>,
    policy: Option<&Policy>,
) -> (Vec<Considered>, Option<RulesView>) {
    let nothing = Evidence::default();
    let pending = state
        .pending
        .iter()
        .find(|stop| stop.seq == decision.trigger)
        .cloned();
    let stop = pending.or_else(|| state.restart_stop(decision.trigger));
    let case = stop.as_ref().zip(policy).map(|(stop, policy)| Case {
        state,
        stop,
        evidence: evidence.unwrap_or(&nothing),
        policy,
        fingerprint: decision.policy,
    });
    let considered = match &case {
        Some(case) if !is_unanswered(decision.reason) => case.considered(),
        _ => vec![only_exit(decision, "no hook call waited for the answer")],
    };
    let rules = case.map(|case| RulesView::new(case.find(), &case.evidence.timeline));
    (considered, rules)
}

/// Says when each event was in the journal, in microseconds after the stop happened.
fn times(trigger: &Envelope, decided: &Envelope, delivery: &[&Envelope]) -> Vec<TimeAfter> {
    let steps = [trigger, decided]
        .into_iter()
        .chain(delivery.iter().copied());
    steps
        .map(|envelope| TimeAfter {
            kind: envelope.event.kind().to_owned(),
            after_us: envelope.recorded_at.as_micros() - trigger.at.as_micros(),
        })
        .collect()
}

/// Returns whether an event belongs to the delivery of a decision.
fn is_delivery_of(event: &Event, seq: u64) -> bool {
    match event {
        Event::DeliveryAttempted { decision, .. }
        | Event::DeliveryHeld { decision, .. }
        | Event::DeliveryPasted { decision, .. }
        | Event::DeliveryEntered { decision, .. }
        | Event::DeliveryConfirmed { decision, .. }
        | Event::DeliveryFailed { decision, .. }
        | Event::DeliveryExpired { decision, .. } => *decision == seq,
        _ => false,
    }
}
