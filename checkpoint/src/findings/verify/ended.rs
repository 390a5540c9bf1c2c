//! How a command ended that verifies something (spec EVID-17, EVID-24).

use std::borrow::Cow;

use journal::{SummaryVerdict, ToolCall};

use super::kind::Kind;
use super::run::Does;
use super::{kinds, program, shown};
use crate::findings::outcomes::was_stopped;
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
            // A tool that reports only failures has reported that there are none.
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
            _ if turn.wants_shown() && printed(turn, position).is_some_and(|end| end.crashed) => {
                Outcome::Failed
            }
            _ => by_status(call, &without_pretense(simple, does)),
        },
        _ => by_status(call, &without_pretense(simple, does)),
    };
    let is_program = match does {
        Does::Command(_) => true,
        Does::Tool { kind, .. } => *kind == Kind::Run,
        Does::Asks | Does::Looks | Does::RunsNotebooks | Does::Unknown(_) => false,
    };
    match outcome {
        Outcome::Failed if is_program && was_stopped(call) => Outcome::Counts,
        outcome => outcome,
    }
}

/// What a script of the project calls a dry run is still its own code.
fn without_pretense<'s>(simple: &'s shell::Simple, does: &Does) -> Cow<'s, shell::Simple> {
    let is_script = |script: &str| crate::project::file_name(script).contains('.');
    let runs_script =
        matches!(does, Does::Command(_)) && program::script_of(simple).is_some_and(is_script);
    let is_pretense = |word: &String| matches!(word.as_str(), "--dry-run" | "--dryrun");
    if !runs_script || !simple.words.iter().any(is_pretense) {
        return Cow::Borrowed(simple);
    }
    let mut plain = simple.clone();
    plain.words.retain(|word| !is_pretense(word));
    Cow::Owned(plain)
}

/// A server that started well and was then stopped has run.
pub(super) fn served((kind, family): (Kind, Family), call: &ToolCall) -> (Kind, Family) {
    let has_run = kind == Kind::Serve && was_stopped(call);
    (if has_run { Kind::Run } else { kind }, family)
}
