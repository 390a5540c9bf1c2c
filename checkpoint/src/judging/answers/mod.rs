//! The answer table: for each changed unit of code, whether it was verified, and by which row that is known (spec EVID-2).
//!
//! The same table decides and explains. The first row that applies gives the answer.

mod doubts;
pub(super) mod failures;
mod trace;
pub(super) mod wording;

use serde::{Deserialize, Serialize};

pub(super) use trace::demand;
pub use trace::{ActionTrace, Findings, OpenItem, RuleTrace};

use crate::catalogue::Purpose;
use crate::judging::paths::PathRef;
use crate::judging::person::{Forbids, Word, reports_failure};
use crate::judging::runs::{Ended, Run};
use crate::judging::turn::{Turn, shorten};
use crate::policy::Uncovered;

/// Whether a unit was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verified {
    /// Something that could have shown a mistake in this content ran and ended well.
    Done,
    /// The record does not say.
    Unknown,
    /// The record shows that it was not done.
    Open,
}

/// The answer for one unit of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The file.
    pub file: String,
    /// Whether it was verified.
    pub verified: Verified,
    /// The row of the table.
    pub row: String,
    /// The rule of the specification.
    pub spec: String,
    /// The call that shows it, by its position in the timeline, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// What that call was, or why there is none.
    pub why: String,
    /// What is doubtful of that call, for people to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl Answer {
    /// Returns why a file is open, as a part of a sentence.
    pub(in crate::judging) fn reason(&self) -> &str {
        let row = ROWS.iter().find(|row| row.name == self.row);
        row.map_or(self.why.as_str(), |row| row.why)
    }
}

/// A changed file that has to be verified.
pub(in crate::judging) struct Unit<'a> {
    pub(in crate::judging) path: &'a str,
    pub(in crate::judging) language: &'a str,
    /// Whether tests are known that cover it.
    pub(in crate::judging) is_covered: bool,
    /// What ran on its content, in order.
    pub(in crate::judging) runs: Vec<&'a Run>,
}

impl Unit<'_> {
    /// Returns whether something may have used the file: it ran code of its language, its words name the file, or nothing is
    /// known of it.
    fn may_be_used_by(&self, run: &Run, ground: &Ground<'_>) -> bool {
        let may = match run.does {
            None if run.is_opaque() => true,
            _ if ground.wrote(run, self) => false,
            None => run.names(&PathRef::changed(self.path)),
            Some(does) => does >= Purpose::Serve && run.speaks(self.language),
        };
        may && run.ended != Ended::Nothing
    }
}

/// What the rows look at besides the unit.
pub(in crate::judging) struct Ground<'a> {
    pub(in crate::judging) turn: &'a Turn<'a>,
    pub(in crate::judging) word: &'a Word,
}

impl Ground<'_> {
    /// Returns whether a run is no evidence because it wrote the file: it did not use what the file holds now.
    fn wrote(&self, run: &Run, unit: &Unit<'_>) -> bool {
        run.does.is_none_or(|does| does <= Purpose::Run) && self.turn.wrote(run.call, unit.path)
    }

    /// Returns whether later tests that certainly held the file failed.
    fn failed_after(&self, passed: &Run, unit: &Unit<'_>) -> bool {
        unit.runs.iter().any(|run| {
            run.call > passed.call
                && run.does == Some(Purpose::Tests)
                && run.speaks(unit.language)
                && run.ended == Ended::Failed
                && run.holds(unit.path, self.turn.project)
        })
    }
}

/// What a row says: the answer, and the run that shows it.
type Said<'a> = Option<(Verified, Option<&'a Run>)>;

struct Row {
    name: &'static str,
    spec: &'static str,
    why: &'static str,
    says: for<'a> fn(&Ground<'a>, &Unit<'a>) -> Said<'a>,
}

/// The purpose of actions that the table judges.
pub(in crate::judging) const TESTS: &str = "tests";
/// The row for content whose last tests failed.
pub(in crate::judging) const FAILED: &str = "failed";
/// Added to an answer by a call at whose end the contents of files were not recorded.
const BY_ORDER: &str = ", by the order of calls and edits";
/// The row for content on which nothing ran.
pub(in crate::judging) const NOTHING_RAN: &str = "nothing ran";

const ROWS: [Row; 9] = [
    Row {
        name: "not wanted",
        spec: "EVID-9",
        why: "you asked not to run it",
        says: |ground, _| (ground.word.forbids == Forbids::Yes).then_some((Verified::Done, None)),
    },
    Row {
        name: "tests passed",
        spec: "EVID-5",
        why: "tests passed on this content",
        says: |ground, unit| {
            let tests = |run: &Run| run.does == Some(Purpose::Tests) && run.speaks(unit.language);
            last(unit, |run| tests(run) && run.ended == Ended::Passed)
                .filter(|passed| !ground.failed_after(passed, unit))
                .map(|run| (Verified::Done, Some(run)))
        },
    },
    Row {
        name: "named",
        spec: "EVID-6",
        why: "a command that names the file passed on this content",
        says: |ground, unit| {
            let file = PathRef::changed(unit.path);
            let named = |run: &Run| {
                let may = run.does.is_none_or(|does| does >= Purpose::Serve);
                may && run.names(&file) && !ground.wrote(run, unit)
            };
            last(unit, |run| named(run) && run.ended == Ended::Passed)
                .filter(|passed| !ground.failed_after(passed, unit))
                .map(|run| (Verified::Done, Some(run)))
        },
    },
    Row {
        name: "perhaps not wanted",
        spec: "EVID-9",
        why: "you may have asked not to run it",
        says: |ground, _| {
            (ground.word.forbids == Forbids::Perhaps).then_some((Verified::Unknown, None))
        },
    },
    Row {
        name: FAILED,
        spec: "EVID-7",
        why: "the last run of it failed",
        says: |ground, unit| {
            let tests = |run: &&&Run| run.does == Some(Purpose::Tests);
            let run = *unit
                .runs
                .iter()
                .rev()
                .find(|run| tests(run) && run.speaks(unit.language))?;
            let holds = run.holds(unit.path, ground.turn.project);
            let message = &ground.turn.evidence.facts.last_message;
            let is_open = run.ended == Ended::Failed && holds && !reports_failure(message);
            is_open.then_some((Verified::Open, Some(run)))
        },
    },
    Row {
        name: "built",
        spec: "EVID-6",
        why: "no test covers it, and a build, a type check or a run passed on this content",
        says: |ground, unit| {
            if unit.is_covered || ground.turn.policy.uncovered == Uncovered::Tests {
                return None;
            }
            let builds = |run: &Run| {
                let does = run.does.is_some_and(|does| does >= Purpose::Run);
                does && run.speaks(unit.language) && !ground.wrote(run, unit)
            };
            last(unit, |run| builds(run) && run.ended == Ended::Passed)
                .map(|run| (Verified::Done, Some(run)))
        },
    },
    Row {
        name: "only built",
        spec: "EVID-6",
        why: "tests cover it, and only a build or a check ran on this content",
        says: |ground, unit| {
            let mut using = unit
                .runs
                .iter()
                .filter(|run| unit.may_be_used_by(run, ground))
                .peekable();
            let is_only_built = unit.is_covered
                && using.peek().is_some()
                && using.all(|run| matches!(run.does, Some(Purpose::Types | Purpose::Build)));
            is_only_built.then_some((Verified::Open, None))
        },
    },
    Row {
        name: "used",
        spec: "EVID-8",
        why: "something ran on this content that may have used it",
        says: |ground, unit| {
            last(unit, |run| unit.may_be_used_by(run, ground))
                .map(|run| (Verified::Unknown, Some(run)))
        },
    },
    Row {
        name: NOTHING_RAN,
        spec: "EVID-3",
        why: "nothing that could show a mistake ran after the last change",
        says: |_, _| Some((Verified::Open, None)),
    },
];

fn last<'a>(unit: &Unit<'a>, fits: impl Fn(&Run) -> bool) -> Option<&'a Run> {
    unit.runs.iter().rev().copied().find(|run| fits(run))
}

/// Returns the answer for a unit.
pub(in crate::judging) fn answer<'a>(ground: &Ground<'a>, unit: &Unit<'a>) -> Answer {
    let said = ROWS
        .iter()
        .find_map(|row| Some((row, (row.says)(ground, unit)?)));
    let (row, (verified, run)) = said.expect("the last row always answers");
    let call = run.map(|run| run.call);
    let mut why = row.why.to_owned();
    if let Some(call) = call {
        let ran = &ground.turn.calls()[call];
        let command = shorten(ran);
        why = if ran.is_others() {
            format!("{why}: `{command}` in {}", ran.tool)
        } else {
            format!("{why}: call {} `{command}`", call + 1)
        };
        if ground.turn.recorded(call, unit.path).is_none() {
            why += BY_ORDER;
        }
    }
    let doubts = match (verified, run) {
        (Verified::Done, Some(run)) => doubts::doubts(ground.turn, run),
        _ => Vec::new(),
    };
    if !doubts.is_empty() {
        why = format!("{why}; doubtful: {}", doubts.join(", "));
    }
    Answer {
        file: unit.path.to_owned(),
        verified,
        row: row.name.to_owned(),
        spec: row.spec.to_owned(),
        call,
        why,
        doubts,
    }
}
