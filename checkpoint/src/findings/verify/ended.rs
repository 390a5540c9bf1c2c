//! How a command ended that verifies something (spec EVID-17, EVID-24).

use journal::{SummaryVerdict, ToolCall};

use super::kind::Kind;
use super::run::Does;
use super::{kinds, program, shown};
use crate::findings::proof::{Asked, Position, by_output, by_status, printed};
use crate::findings::trace::Outcome;
use crate::findings::turn::Turn;
use crate::project::covering::Family;
use crate::shell;

/// Returns how a command ended; a program that started well and was then stopped has run.
pub(super) fn ended(
    turn: &Turn<'_>,
    position: Position,
    simple: &shell::Simple,
    does: &Does,
) -> Outcome {
    let call = &turn.evidence.timeline.calls[position.0];
    let outcome = match (&turn.outcomes, does) {
        (Some(outcomes), Does::Tool { kind, family, .. }) if *kind >= Kind::Build => {
            let asked = Asked {
                tests: *kind == Kind::Tests,
                packs: &[shown::pack_of(*family)],
                looks: false,
            };
            let outcome = by_output(turn, outcomes, position, &asked);
            let is_silent = || printed(turn, position).is_some_and(|end| end.silent);
            // What speaks of failures only has said that there are none.
            if outcome == Outcome::Unclear && kinds::is_silent(simple) && is_silent() {
                Outcome::Counts
            } else {
                outcome
            }
        }
        (Some(outcomes), Does::Unknown(unknown)) => {
            let asked = Asked {
                tests: unknown.checks,
                packs: &[shown::pack_of(Family::Other)],
                looks: false,
            };
            by_output(turn, outcomes, position, &asked)
        }
        (Some(_), _) => match printed(turn, position).and_then(|end| end.verdict) {
            Some(SummaryVerdict::Passed) if !call.refused => Outcome::Counts,
            Some(SummaryVerdict::Failed) => Outcome::Failed,
            _ => by_status(call, simple),
        },
        _ => by_status(call, simple),
    };
    let is_program = match does {
        Does::Command(_) => true,
        Does::Tool { kind, .. } => *kind == Kind::Run,
        Does::Asks | Does::Looks | Does::Unknown(_) => false,
    };
    match outcome {
        Outcome::Failed if is_program && program::was_stopped(call) => Outcome::Counts,
        outcome => outcome,
    }
}

/// A server that started well and was then stopped has run.
pub(super) fn served((kind, family): (Kind, Family), call: &ToolCall) -> (Kind, Family) {
    let has_run = kind == Kind::Serve && program::was_stopped(call);
    (if has_run { Kind::Run } else { kind }, family)
}
