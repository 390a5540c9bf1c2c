//! Test runners that started well and found no tests: then no test covers what they were to test (spec EVID-30).

use journal::{SummaryVerdict, ToolCall};

use super::kind::Kind;
use super::need::Need;
use super::run::{Does, Run};
use super::shown;
use crate::findings::narrower;
use crate::findings::turn::Turn;
use crate::project::covering::Family;
use crate::project::is_test;
use crate::project::resolve::Map;
use crate::shell;

/// Takes files for uncovered whose tests a runner looked for in vain, and leaves out those that nothing else would check.
pub(super) fn uncover(turn: &Turn<'_>, runs: &[Run], map: &Map<'_>, needs: &mut Vec<Need<'_>>) {
    if !turn.believes_runners() || !needs.iter().any(|need| need.covered) {
        return;
    }
    let vain: Vec<&Run> = runs.iter().filter(|run| found_none(turn, run)).collect();
    needs.retain_mut(|need| {
        let is_vain = |run: &&&Run| {
            let Does::Tool { family, reach, .. } = &run.does else {
                return false;
            };
            let speaks = *family == Family::Other || *family == need.family;
            let early = need.edit.is_some_and(|edit| edit.call > run.position.0);
            speaks && !early && reach.covers(need.path, Kind::Tests, *family, map.workspace)
        };
        if need.covered && !is_test(need.path) && vain.iter().any(|run| is_vain(&run)) {
            need.covered = false;
            return need.checkable;
        }
        true
    });
}

/// Returns whether a runner that was to run all tests of its place found none.
fn found_none(turn: &Turn<'_>, run: &Run) -> bool {
    let Does::Tool {
        kind: Kind::Tests,
        family,
        ..
    } = &run.does
    else {
        return false;
    };
    let (index, place) = run.position;
    let call = &turn.evidence.timeline.calls[index];
    let only_lists = turn.lines[index]
        .commands
        .get(place)
        .is_some_and(shell::is_dry);
    let said = turn.outcomes.as_ref();
    let verdict = said.and_then(|said| said.tests(index, &[shown::pack_of(*family)]));
    verdict == Some(SummaryVerdict::RanNothing)
        && !call.refused
        && !only_lists
        && narrower::chooses_no_names(turn, index)
        && !has_other_error(call)
}

/// Returns whether a call failed because there were no tests to run. Those that should have run are asked for by their action.
pub(in crate::findings) fn says_no_tests(turn: &Turn<'_>, index: usize) -> bool {
    let said = turn.outcomes.as_ref();
    let verdict = said.and_then(|said| said.any_tests(index));
    turn.believes_runners() && verdict == Some(SummaryVerdict::RanNothing)
}

fn has_other_error(call: &ToolCall) -> bool {
    call.output.lines().map(str::trim_start).any(|line| {
        let line = line.to_lowercase();
        (line.starts_with("error") || line.contains("not found:") || line.contains("traceback"))
            && !line.contains("no test")
            && !line.starts_with("error: exit code")
    })
}
