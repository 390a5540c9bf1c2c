//! Failed calls without a later fix or retry (spec HYG-1, HYG-2).
//!
//! Only failed calls count, and those whose output says that tests failed (spec EVID-17).

use std::collections::HashSet;

use journal::{SummaryVerdict, ToolCall, ToolKind};

use super::line_words::{FILES, FILTERS, SETTING_UP};
use super::paths::PathRef;
use super::turn::Turn;
use super::{
    answers, concern, handed, narrower, older, outcomes, reached, settled, verify, went_on,
};
use crate::policy::Errors;
use crate::shell;

/// What the text of an unresolved error says, in the order of spec HYG-3.
const CONTENT: [(&[&str], &str); 3] = [
    (
        &["Traceback (most recent call last)"],
        "Python errors remain unresolved — verify they are fixed",
    ),
    (
        &["SyntaxError"],
        "Syntax errors remain — verify the code is valid",
    ),
    (
        &["ImportError", "ModuleNotFoundError"],
        "Import errors remain — check dependencies or module paths",
    ),
];
const TESTS_FAILED: &str = "Test failures remain — re-run tests after fixes";
const OTHER: &str = "A command returned errors — verify the issue is resolved";

/// The most files that one error may name.
const FILES_MAX: usize = 32;

/// Programs that run the same check whatever their arguments are.
const RUNNERS: [&str; 18] = [
    "pytest", "py.test", "tox", "nox", "unittest", "jest", "vitest", "mocha", "ava", "rspec",
    "phpunit", "ctest", "mypy", "pyright", "ruff", "eslint", "tsc", "prettier",
];

/// Returns one sentence for each kind of unresolved error. `due` are the calls that were to do what is due.
pub(super) fn find(turn: &Turn<'_>, due: &HashSet<usize>) -> Vec<String> {
    let calls = &turn.evidence.timeline.calls;
    let mut sentences: Vec<&str> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let is_due = due.contains(&index);
        let open = call.is_error && is_open(turn, index, is_due);
        if !call.refused && (open || hides_failure(turn, index, is_due)) {
            sentences.extend(describe(turn, index));
        }
    }
    let order = CONTENT
        .iter()
        .map(|(_, sentence)| *sentence)
        .chain([TESTS_FAILED, OTHER]);
    order
        .filter(|sentence| sentences.contains(sentence))
        .map(String::from)
        .collect()
}

/// Returns whether a failed call says that something is broken which nothing later in the turn settled.
fn is_open(turn: &Turn<'_>, index: usize, is_due: bool) -> bool {
    match turn.policy.hygiene.errors {
        Errors::All => !is_resolved(turn, index),
        Errors::Broken | Errors::Open => {
            !is_answer(turn, index)
                && !is_older(turn, index)
                && !settled::is_settled(turn, index)
                && !handed::is_over(turn, index, is_due)
                && !went_on::is_passed(turn, index)
                && (turn.policy.hygiene.errors == Errors::Broken || is_open_matter(turn, index))
        }
    }
}

/// Returns whether a failure came from work on the project, and nothing later was about the same.
fn is_open_matter(turn: &Turn<'_>, index: usize) -> bool {
    concern::is_one(turn, index) && !reached::is_reached(turn, index)
}

/// Returns whether a failure is an answer. Tests that failed are none, however the line ended, and if they passed, what ended
/// it was its time limit or its end.
fn is_answer(turn: &Turn<'_>, index: usize) -> bool {
    let call = &turn.evidence.timeline.calls[index];
    let said = turn.outcomes.as_ref();
    match said.and_then(|said| said.any_tests(index)) {
        Some(SummaryVerdict::Failed) => false,
        Some(SummaryVerdict::Passed) if outcomes::was_stopped(call) => true,
        Some(SummaryVerdict::RanNothing) if verify::says_no_tests(turn, index) => true,
        _ => answers::is_answer(call, &turn.lines[index], turn.project),
    }
}

/// Returns whether a call shows what is older than the work of the turn (spec EVID-28).
fn is_older(turn: &Turn<'_>, index: usize) -> bool {
    turn.is_aside(index) || older::fails_without_work(turn, index)
}

/// Returns whether only the output of a call says that tests failed, and nothing was edited since and no tests passed.
fn hides_failure(turn: &Turn<'_>, index: usize, is_due: bool) -> bool {
    let calls = &turn.evidence.timeline.calls;
    let edits = |call: &ToolCall| {
        matches!(call.kind, ToolKind::Edit | ToolKind::Write) && !call.is_error && !call.refused
    };
    let Some(outcomes) = turn.outcomes.as_ref().filter(|_| !calls[index].is_error) else {
        return false;
    };
    let passes = |later: usize| {
        let tests = outcomes.any_tests(later) == Some(SummaryVerdict::Passed);
        (tests && !turn.is_aside(later) && narrower::settles(turn, index, later))
            || !verify::reported(turn, later).is_empty()
    };
    outcomes.any_tests(index) == Some(SummaryVerdict::Failed)
        && !is_older(turn, index)
        && (is_due || !handed::is_told(turn, index))
        && !(index + 1..calls.len()).any(passes)
        && !calls[index + 1..].iter().any(edits)
}

/// Layer 2: the kind of an unresolved error, by its text.
fn describe(turn: &Turn<'_>, index: usize) -> Vec<&'static str> {
    let call = &turn.evidence.timeline.calls[index];
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| call.output.contains(pattern));
    let mut sentences: Vec<_> = CONTENT
        .iter()
        .filter(|(patterns, _)| says(patterns))
        .map(|(_, sentence)| *sentence)
        .collect();
    if ran_tests(turn, index) {
        sentences.push(TESTS_FAILED);
    }
    if sentences.is_empty() {
        sentences.push(OTHER);
    }
    sentences
}

/// Returns whether the line mentions `pytest` or `make test` (spec HYG-3), or runs those of any rule.
fn ran_tests(turn: &Turn<'_>, index: usize) -> bool {
    let said = turn.outcomes.as_ref();
    if let Some(verdict) = said.and_then(|outcomes| outcomes.any_tests(index)) {
        return verdict == SummaryVerdict::Failed;
    }
    let line = turn.evidence.timeline.calls[index]
        .command
        .as_deref()
        .unwrap_or_default();
    let actions = turn.policy.rules.iter().flat_map(|rule| &rule.actions);
    let evidence = actions
        .filter(|action| action.purpose == "tests")
        .flat_map(|action| &action.evidence);
    line.contains("pytest")
        || line.contains("make test")
        || evidence
            .filter_map(|wanted| turn.rules.pattern(wanted))
            .any(|wanted| {
                turn.lines[index]
                    .commands
                    .iter()
                    .any(|simple| wanted.fits(simple))
            })
}

/// Layer 1: whether a later call addressed the error.
fn is_resolved(turn: &Turn<'_>, index: usize) -> bool {
    let calls = &turn.evidence.timeline.calls;
    let error = About::new(turn, index);
    let later = calls
        .iter()
        .enumerate()
        .skip(index + 1)
        .filter(|(_, call)| !call.refused);
    later
        .into_iter()
        .any(|(later_index, call)| match call.kind {
            ToolKind::Shell => {
                let line = call.command.as_deref().unwrap_or_default();
                error.is_referenced_in(line)
                    || is_same_command(
                        &turn.lines[index].commands,
                        &turn.lines[later_index].commands,
                    )
            }
            ToolKind::Edit | ToolKind::Write => {
                !call.is_error && error.is_about_any(&call.paths, turn.project)
            }
            ToolKind::Read | ToolKind::Other => {
                !call.is_error && error.is_retried_by(call, turn.project)
            }
        })
}

struct About<'a> {
    call: &'a ToolCall,
    files: Vec<PathRef>,
}

impl<'a> About<'a> {
    fn new(turn: &Turn<'a>, index: usize) -> Self {
        let call = &turn.evidence.timeline.calls[index];
        let line = call.command.as_deref().unwrap_or_default();
        let named = FILES
            .find_iter(line)
            .chain(FILES.find_iter(&call.output))
            .map(|found| found.as_str());
        let mut files: Vec<PathRef> = Vec::new();
        for path in call.paths.iter().map(String::as_str).chain(named) {
            // What follows `::` in a test's name is not part of its file's.
            let path_ref = PathRef::written(path.split("::").next().unwrap_or(path), turn.project);
            if !path_ref.path.is_empty() && files.len() < FILES_MAX && !files.contains(&path_ref) {
                files.push(path_ref);
            }
        }
        Self { call, files }
    }

    /// Returns whether a later shell line names one of the files, or its module.
    fn is_referenced_in(&self, line: &str) -> bool {
        self.files.iter().any(|file| file.is_named_in(line))
    }

    /// Returns whether a later call edits one of the files.
    fn is_about_any(&self, paths: &[String], project: &str) -> bool {
        paths
            .iter()
            .map(|path| PathRef::written(path, project))
            .any(|path_ref| self.files.iter().any(|file| file.same(&path_ref)))
    }

    /// Returns whether a later call repeats the attempt: the same tool, or the file by a corrected
    /// path.
    fn is_retried_by(&self, later: &ToolCall, project: &str) -> bool {
        let same_name = |path: &String| {
            let path_ref = PathRef::written(path, project);
            self.files
                .iter()
                .any(|file| file.file_name() == path_ref.file_name())
        };
        if self.call.kind == ToolKind::Shell || !self.call.paths.is_empty() {
            return self.call.kind != ToolKind::Shell && later.paths.iter().any(same_name);
        }
        self.call.tool == later.tool
    }
}

/// Returns whether two lines have a command in common: the same program with the same target.
fn is_same_command(left: &[shell::Simple], right: &[shell::Simple]) -> bool {
    let right = keys(right);
    keys(left).iter().any(|key| right.contains(key))
}

/// Returns the identities of a line's commands: the program and its target.
fn keys(commands: &[shell::Simple]) -> Vec<(&str, Option<&str>)> {
    let mut keys = Vec::new();
    for simple in commands {
        let Some(program) = simple.words.first().map(String::as_str) else {
            continue;
        };
        if SETTING_UP.contains(&program) || (!keys.is_empty() && FILTERS.contains(&program)) {
            continue;
        }
        let argument = simple
            .words
            .iter()
            .skip(1)
            .map(String::as_str)
            .find(|word| !word.starts_with('-'));
        keys.push((program, argument.filter(|_| !RUNNERS.contains(&program))));
    }
    keys
}
