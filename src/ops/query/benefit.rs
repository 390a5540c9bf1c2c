//! What checkpoints did, and what they cost, from events only (spec LOOK-9).

use checkpoint::follow_up::FollowUp;
use journal::{Decision, Envelope, Outcome, Verdict};

use super::audit::OfSession;
use crate::ops::views::{Benefit, Mistake};

/// The most mistakes that are listed.
const MISTAKES_MAX: usize = 50;

/// Counts a stop, and what its checkpoint did if it got one. The newest come first.
pub(super) fn add(
    benefit: &mut Benefit,
    decided: &Envelope,
    decision: &Decision,
    outcome: Outcome,
    of: &OfSession,
) {
    benefit.stops += 1;
    if decision.verdict == Verdict::Pass {
        return;
    }
    benefit.sent += 1;
    benefit.lost += u64::from(matches!(outcome, Outcome::Failed | Outcome::Expired));
    benefit.actions += decision.actions.len() as u64;
    benefit.wrong += u64::from(of.marks.any(decided.seq));
    let Some(followed) = of.followed.get(&decided.seq) else {
        return;
    };
    match followed.end {
        Some(FollowUp::Fulfilled) => {
            benefit.demands += 1;
            benefit.met += 1;
        }
        Some(FollowUp::Unfulfilled(_)) => benefit.demands += 1,
        Some(FollowUp::Open | FollowUp::Unknown) => benefit.open += 1,
        None if !of.is_cut => {}
        // What the agent did afterward is withheld too.
        Some(FollowUp::Withheld) | None => {
            benefit.withheld += 1;
            return;
        }
    }
    // The answer that the agent ends with, and at most one more for each call.
    benefit.rounds += 1 + followed.calls;
    benefit.ms += followed.ms;
    benefit.checks += u64::from(followed.first.is_some());
    let Some(first) = followed.first.as_ref().filter(|first| first.failed) else {
        return;
    };
    benefit.caught += 1;
    if benefit.mistakes.len() < MISTAKES_MAX {
        benefit.mistakes.push(Mistake {
            decision: decided.seq,
            at: decided.at,
            session: decided.stream.session,
            command: first.command.clone(),
        });
    }
}
