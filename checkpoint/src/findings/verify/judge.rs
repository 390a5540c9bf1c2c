//! What the commands of a turn say about a changed file (spec EVID-22, EVID-23).

use journal::SummaryVerdict;

use super::kind::Kind;
use super::need::Need;
use super::run::{Does, Run};
use super::{covers, notebook, program, ran, shown};
use crate::findings::proof::Position;
use crate::findings::trace::Outcome;
use crate::findings::turn::Turn;
use crate::findings::{narrower, older};
use crate::policy::VerifiedCode;
use crate::project::covering::Family;
use crate::project::resolve::Map;

/// Judges what the commands of a turn say about a file.
pub(super) struct Judge<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) map: &'a Map<'a>,
}

impl Judge<'_> {
    /// Returns the first command that verifies a file, unless tests failed after the last one.
    pub(super) fn first(&self, runs: &[Run], need: &Need<'_>) -> Option<Position> {
        let counts = |run: &&Run| self.outcome(run, need) == Some(Outcome::Counts);
        let done = runs.iter().find(counts)?;
        let last = runs.iter().rfind(counts)?;
        let fails = runs
            .iter()
            .any(|run| run.position.0 > last.position.0 && self.fails(run, need));
        (!fails).then_some(done.position)
    }

    /// Returns whether a command ran tests of a file that failed, which its call does not say.
    fn fails(&self, run: &Run, need: &Need<'_>) -> bool {
        let Does::Tool {
            kind: Kind::Tests,
            family,
            reach,
        } = &run.does
        else {
            return false;
        };
        let index = run.position.0;
        let packs = [shown::pack_of(*family)];
        let said = self
            .turn
            .outcomes
            .as_ref()
            .and_then(|said| said.tests(index, &packs));
        let speaks = *family == Family::Other || *family == need.family;
        said == Some(SummaryVerdict::Failed)
            && !older::only_older_failed(self.turn, index)
            && !self.turn.evidence.timeline.calls[index].is_error
            && speaks
            && reach.covers(need.path, Kind::Tests, *family, self.map.workspace)
    }

    /// Returns whether a run of tests failed only in tests that are older, or in those of other files, and a later run
    /// settled that.
    fn passed_for(&self, run: &Run, need: &Need<'_>) -> bool {
        let is_tests = matches!(
            &run.does,
            Does::Tool {
                kind: Kind::Tests,
                ..
            }
        );
        if !is_tests || run.outcome != Outcome::Failed {
            return false;
        }
        let tests: Vec<&str> = covers::covering(need.path, self.map.workspace).collect();
        if older::only_older_failed(self.turn, run.position.0) {
            return true;
        }
        narrower::passed_for(self.turn, run.position.0, &tests)
    }

    /// Returns what a command says about a file; `None` if it is none that could.
    pub(super) fn outcome(&self, run: &Run, need: &Need<'_>) -> Option<Outcome> {
        let workspace = self.map.workspace;
        let covers = match &run.does {
            Does::Tool {
                kind,
                family,
                reach,
            } => {
                let speaks = *family == Family::Other
                    || need.family == Family::Other
                    || *family == need.family;
                if !speaks || (need.covered && *kind != Kind::Tests) {
                    return None;
                }
                reach.covers(need.path, *kind, *family, workspace)
                    || (!need.covered
                        && (reach.holds_companion(self.turn.files, need.path, workspace)
                            || (self.turn.policy.verify.scope == VerifiedCode::Named
                                && reach.holds_mirror(need.path))))
            }
            Does::Command(placed) => {
                // A test that is a script verifies itself.
                let enough = !need.covered || crate::project::is_test(need.path);
                if !enough || !ran::runs(self.turn, placed, need.path, self.map) {
                    return None;
                }
                let is_exact = self.turn.policy.verify.scope.tells_tests_apart();
                if is_exact && program::runs_other_test(&placed.simple, need.path) {
                    return None;
                }
                true
            }
            Does::Unknown(unknown) => {
                if !unknown.is_about(need.path, need.covered, need.checkable) {
                    return None;
                }
                unknown.covers(need.path, workspace)
            }
            Does::Asks if !need.covered => true,
            Does::Looks if !need.covered && program::is_front_end(need.path) => true,
            Does::RunsNotebooks if notebook::is_one(need.path) => true,
            Does::Asks | Does::Looks | Does::RunsNotebooks => return None,
        };
        if run.outcome < Outcome::TooEarly && !self.passed_for(run, need) {
            return Some(run.outcome);
        }
        if !covers {
            return Some(Outcome::Elsewhere);
        }
        let call = run.position.0;
        let line = self.turn.evidence.timeline.calls[call]
            .command
            .as_deref()
            .unwrap_or_default();
        let early = need
            .edit
            .is_some_and(|edit| edit.follows(call, line, &run.program));
        Some(if early {
            Outcome::BeforeEdit
        } else {
            Outcome::Counts
        })
    }
}
