//! What makes a run of tests doubtful: observed for people, and never a reason to ask (spec EVID-24).

use journal::{Summary, SummaryKind};

use super::Purpose;
use crate::judging::runs::Run;
use crate::judging::turn::Turn;
use crate::project::is_test;

/// The most doubts that are named.
const DOUBTS_MAX: usize = 5;

/// Returns what is doubtful of a run, a few words each.
pub(super) fn doubts(turn: &Turn<'_>, run: &Run) -> Vec<String> {
    if run.does != Some(Purpose::Tests) {
        return Vec::new();
    }
    let mut found = fewer(turn, run.call);
    let earlier = turn.lines[..run.call].iter();
    let mut defined = earlier.flat_map(|line| &line.defines);
    let is_meant = |name: &&String| **name == run.program || *name == "PATH";
    if let Some(name) = defined.rfind(is_meant) {
        found.push(format!("`{name}` was defined before it"));
    }
    if turn.lines[run.call]
        .defines
        .iter()
        .any(|name| name == "PATH")
    {
        found.push("its `PATH` begins with a folder of its own".to_owned());
    }
    let facts = &turn.evidence.facts.files;
    for file in turn.files.iter().filter(|file| is_test(&file.path)) {
        if facts.empty.contains(&file.path) {
            found.push(format!("`{}` is empty", file.path));
        } else if file.hash.is_none() {
            found.push(format!("`{}` is gone", file.path));
        } else if facts.loosened.contains(&file.path) {
            found.push(format!("`{}` asserts less than before", file.path));
        }
    }
    found.truncate(DOUBTS_MAX);
    found
}

/// How many tests a call ran, and how many it skipped.
fn counts(turn: &Turn<'_>, call: usize) -> Option<(u64, u64)> {
    let said = &turn.evidence.facts.outcome(call)?.summaries;
    let tests = said.iter().filter(|said| said.kind == SummaryKind::Tests);
    let ran = |said: &Summary| Some(said.passed? + said.failed.unwrap_or_default());
    let ran: Option<Vec<u64>> = tests.clone().map(ran).collect();
    let ran = ran.filter(|ran| !ran.is_empty())?.iter().sum();
    let skipped = tests.filter_map(|said| said.skipped).sum();
    Some((ran, skipped))
}

/// Compares the tests of a call with those of the same command before.
fn fewer(turn: &Turn<'_>, call: usize) -> Vec<String> {
    let line = |call: usize| turn.calls()[call].command.as_deref();
    let mut before = (0..call).rev().filter(|other| line(*other) == line(call));
    let before = before.find_map(|other| counts(turn, other));
    let (Some((ran, skipped)), Some((then, skipped_then))) = (counts(turn, call), before) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if ran < then {
        found.push(format!("it ran {ran} tests, and {then} before"));
    }
    if skipped > skipped_then {
        found.push(format!(
            "it skipped {skipped} tests, and {skipped_then} before"
        ));
    }
    found
}
