//! Verifications that failed last, which the agent did not report (spec HYG-1).

use std::collections::HashSet;

use crate::catalogue::Purpose;
use crate::judging::paths::PathRef;
use crate::judging::person::reports_failure;
use crate::judging::runs::{Ended, Run};
use crate::judging::turn::{Turn, shorten};
use crate::outcome::{speaks_of_failure, sums_up};
use crate::text::steers;

/// The most characters of a line of output that is quoted.
const QUOTED_CHARS_MAX: usize = 160;

/// Returns one sentence for each kind of verification whose last run certainly failed. `asked` are the calls behind what is
/// demanded anyway.
pub(in crate::judging) fn find(
    turn: &Turn<'_>,
    runs: &[Run],
    asked: &HashSet<usize>,
) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    if reports_failure(&turn.evidence.facts.last_message) {
        return sentences;
    }
    let verifies = |run: &&Run| {
        run.does
            .is_some_and(|does| does >= Purpose::Types || does == Purpose::Lint)
            && run.ended != Ended::Unknown
    };
    let mut seen = HashSet::new();
    for run in runs.iter().rev().filter(verifies) {
        if !seen.insert((run.does, run.language.as_str())) || run.ended != Ended::Failed {
            continue;
        }
        if asked.contains(&run.call) || !names_change(turn, run) || is_passed_over(turn, runs, run)
        {
            continue;
        }
        let command = shorten(&turn.calls()[run.call]);
        let line = telling(&turn.calls()[run.call].output);
        let line = line.map(|line| format!(" (`{line}`)")).unwrap_or_default();
        let what = match run.does {
            Some(Purpose::Lint) => "Lint errors",
            Some(Purpose::Types) => "Type errors",
            Some(Purpose::Build) => "Build failures",
            _ => "Test failures",
        };
        sentences.push(format!(
            "{what} remain: `{command}` failed{line}, and nothing passed after it"
        ));
    }
    sentences.reverse();
    sentences
}

/// Returns the last line of an output that reports a failure, safe to quote: rather one that says what failed than one that
/// counts.
pub(super) fn telling(output: &str) -> Option<String> {
    let lines = output.lines().rev().map(str::trim);
    let mut lines = lines.filter(|line| speaks_of_failure(line)).peekable();
    let last = *lines.peek()?;
    let counts = |line: &str| line.starts_with('=') || !line.contains(' ') || sums_up(line);
    let line = lines.find(|line| !counts(line)).unwrap_or(last);
    let safe = |c: char| if steers(c) || c == '`' { ' ' } else { c };
    Some(line.chars().take(QUOTED_CHARS_MAX).map(safe).collect())
}

/// Returns whether something came after a failure that may have settled it: an edit, or another run that ended well.
fn is_passed_over(turn: &Turn<'_>, runs: &[Run], failed: &Run) -> bool {
    let edited = turn.files.iter().any(|file| {
        let edit = turn.last_edit(&PathRef::changed(&file.path).path);
        edit.is_some_and(|edit| edit.call > failed.call)
    });
    let passed = |run: &Run| {
        run.call > failed.call
            && run.ended == Ended::Passed
            && run.does.is_none_or(|does| does >= Purpose::Lint)
    };
    edited || runs.iter().any(passed)
}

/// Returns whether the output of a failed run names a changed file.
fn names_change(turn: &Turn<'_>, failed: &Run) -> bool {
    let output = turn.calls()[failed.call].output.as_str();
    turn.files
        .iter()
        .any(|file| PathRef::changed(&file.path).is_named_in(output))
}

#[cfg(test)]
mod tests {
    use super::telling;

    #[test]
    fn the_line_that_says_what_failed_is_quoted() {
        for (output, line) in [
            (
                "/app/src/a.ts\n  3:1  error  'x' is assigned but never used\n\n✖ 1 problem (1 error, 0 warnings)",
                "3:1  error  'x' is assigned but never used",
            ),
            (
                "./main.go:2:13: undefined: x",
                "./main.go:2:13: undefined: x",
            ),
            (
                "FAILED tests/test_a.py::t - assert 2 == 1\n1 failed, 4 passed in 0.1s\nmake: *** [Makefile:2: test] Error 1",
                "FAILED tests/test_a.py::t - assert 2 == 1",
            ),
            (
                "src/a.py:12:5: F841 an error\nFound 1 error.",
                "src/a.py:12:5: F841 an error",
            ),
            ("1 failed, 4 passed in 0.1s", "1 failed, 4 passed in 0.1s"),
        ] {
            assert_eq!(telling(output).as_deref(), Some(line));
        }
    }
}
