//! What subagents, and tools that test or build by themselves, report (spec EVID-27).

use journal::{SummaryKind, SummaryVerdict, ToolKind};

use super::kind::Kind;
use super::reach::Reach;
use super::run::{Does, Run};
use crate::findings::trace::Outcome;
use crate::findings::turn::Turn;
use crate::project::covering::Family;

/// Adds the runs of tests and builds that the result of a call reports.
pub(super) fn add(turn: &Turn<'_>, index: usize, found: &mut Vec<Run>) {
    let kinds = passed(turn, index).into_iter().map(|kind| match kind {
        SummaryKind::Tests => Kind::Tests,
        _ => Kind::Build,
    });
    found.extend(kinds.map(|kind| Run {
        position: (index, 0),
        program: String::new(),
        does: Does::Tool {
            kind,
            family: Family::Other,
            reach: Reach::All,
        },
        outcome: Outcome::Counts,
    }));
}

/// Returns what a call of such a tool says has passed.
pub(in crate::findings) fn passed(turn: &Turn<'_>, index: usize) -> Vec<SummaryKind> {
    let call = &turn.evidence.timeline.calls[index];
    let is_one = call.kind == ToolKind::Other && !call.is_error && !call.refused;
    if !is_one || !turn.wants_shown() {
        return Vec::new();
    }
    let said = turn.evidence.facts.outcome(index);
    let said = said.map_or(&[][..], |said| &said.summaries).iter();
    said.filter(|said| said.verdict == SummaryVerdict::Passed)
        .map(|said| said.kind)
        .collect()
}
