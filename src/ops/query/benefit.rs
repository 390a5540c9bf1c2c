//! What checkpoints did, and what they cost, from events only (spec LOOK-9).

use std::cmp::Reverse;
use std::collections::HashMap;

use checkpoint::follow_up::{self, FollowUp};
use journal::{Envelope, Event, Journal, Outcome, Verdict};

use super::audit::{self, walk};
use super::filter::PastSessions;
use super::marks::Marks;
use super::policies::policies;
use super::question::{Audit, Result};
use crate::ops::views::{Benefit, Mistake, Summary};

/// The most mistakes that are listed.
const MISTAKES_MAX: usize = 50;

/// Returns what the wanted checkpoints did, with totals.
pub(super) fn summary(journal: &Journal, filter: &Audit) -> Result<Summary> {
    Ok(Summary {
        benefit: benefit(journal, filter)?,
        ..audit::summary(journal, filter)?
    })
}

/// Counts what the wanted checkpoints did. Decisions about imported sessions sent nothing and do not count.
pub(super) fn benefit(journal: &Journal, filter: &Audit) -> Result<Benefit> {
    let policies = policies(journal)?;
    let mut benefit = Benefit::default();
    let mut past = PastSessions::default();
    let mut sent = HashMap::<_, Vec<u64>>::new();
    walk(journal, filter, |envelope, decision, outcome, _| {
        if past.has(journal, envelope)? {
            return Ok(());
        }
        benefit.stops += 1;
        if decision.verdict == Verdict::Inject {
            benefit.sent += 1;
            benefit.lost += u64::from(matches!(outcome, Outcome::Failed | Outcome::Expired));
            let of_session = sent.entry(envelope.stream.session).or_default();
            of_session.push(envelope.seq);
        }
        Ok(())
    })?;
    for (session, decisions) in sent {
        let events = journal.stream(session, 0, usize::MAX)?;
        let marks = Marks::of_session(&events);
        benefit.wrong += decisions.iter().filter(|seq| marks.any(**seq)).count() as u64;
        let is_cut = events.iter().any(Envelope::is_withheld);
        let is_wanted = |seq: u64| decisions.contains(&seq);
        for followed in follow_up::all_of_session(&events, &policies) {
            if !is_wanted(followed.decision) {
                continue;
            }
            match followed.end {
                Some(FollowUp::Fulfilled) => {
                    benefit.demands += 1;
                    benefit.met += 1;
                }
                Some(FollowUp::Unfulfilled(_)) => benefit.demands += 1,
                Some(FollowUp::Open | FollowUp::Unknown) => benefit.open += 1,
                // What the agent did afterward is withheld too.
                Some(FollowUp::Withheld) => {
                    benefit.withheld += 1;
                    continue;
                }
                None => {
                    if is_cut {
                        benefit.withheld += 1;
                        continue;
                    }
                }
            }
            // The answer that the agent ends with, and at most one more for each call.
            benefit.rounds += 1 + followed.calls;
            benefit.ms += followed.ms;
            benefit.checks += u64::from(followed.first.is_some());
            let Some(first) = followed.first.filter(|first| first.failed) else {
                continue;
            };
            benefit.caught += 1;
            let at = events.iter().find(|event| event.seq == followed.decision);
            benefit.mistakes.extend(at.map(|decided| Mistake {
                decision: followed.decision,
                at: decided.at,
                session,
                command: first.command,
            }));
        }
        benefit.actions += actions(&events, &decisions);
    }
    benefit
        .mistakes
        .sort_by_key(|mistake| Reverse(mistake.decision));
    benefit.mistakes.truncate(MISTAKES_MAX);
    Ok(benefit)
}

/// Counts the actions that checkpoints asked for.
fn actions(events: &[Envelope], decisions: &[u64]) -> u64 {
    let asked = events.iter().filter(|event| decisions.contains(&event.seq));
    let count = asked.map(|event| match &event.event {
        Event::Decided(decision) => decision.actions.len() as u64,
        _ => 0,
    });
    count.sum()
}
