//! Tests that failed before the turn: the agent says so (spec EVID-22), or they fail without its work too (spec EVID-28).

use std::sync::LazyLock;

use journal::{Summary, SummaryKind, SummaryVerdict};
use regex::{Regex, RegexBuilder};

use super::narrower;
use super::turn::Turn;
use crate::policy::HandedOver;

/// How people say that a failure is older than the work, or not of it.
static OLDER: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"pre-?exist|already (?:fail|broke|there|present)|unrelated|not related|nothing to do with|out[- ]of[- ]scope|known (?:failure|issue|flak)|\bflaky|(?:on|in) (?:main|master|the base)\b|before (?:my|our|this|these|the) change|existing failure|baseline|existent|vorher|nicht von|既存|无关|無関係|기존",
    )
});
static FAILING: LazyLock<Regex> =
    LazyLock::new(|| matching(r"fail|broke|\bred\b|error|失败|失敗|실패|fehl|fall|échou"));

fn matching(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built.expect("a constant that a test compiles")
}

/// Returns whether the agent's last message says that tests that fail did so before the turn, or for reasons of their own.
pub(super) fn names_older(message: &str) -> bool {
    message
        .lines()
        .flat_map(|line| line.split(". "))
        .any(|sentence| OLDER.is_match(sentence) && FAILING.is_match(sentence))
}

/// Returns whether tests with failures count as passed, because the failures are older.
pub(super) fn only_older_failed(turn: &Turn<'_>, index: usize) -> bool {
    let passed = |said: &Summary| {
        said.kind == SummaryKind::Tests && said.passed.is_some_and(|passed| passed > 0)
    };
    let is_said = || {
        turn.policy.hygiene.handed_over != HandedOver::Errors && turn.evidence.facts.older_failures
    };
    let outcomes = turn.outcomes.as_ref();
    outcomes.is_some_and(|outcomes| outcomes.of(index).iter().any(passed))
        && (is_said() || fails_without_work(turn, index))
}

/// Returns whether the tests that failed also failed while the work of the turn was set aside: by their names, else by
/// their number.
pub(super) fn fails_without_work(turn: &Turn<'_>, index: usize) -> bool {
    let Some(outcomes) = turn.outcomes.as_ref() else {
        return false;
    };
    let calls = &turn.evidence.timeline.calls;
    let number = |call: usize| -> u64 {
        let said = outcomes.of(call).iter();
        said.filter(|said| said.kind == SummaryKind::Tests)
            .filter_map(|said| said.failed)
            .sum()
    };
    let names = narrower::names_of_failed(&calls[index].output);
    let is_same = |aside: usize| {
        let before = narrower::names_of_failed(&calls[aside].output);
        if names.is_empty() || before.is_empty() {
            number(index) > 0 && number(index) == number(aside)
        } else {
            names.iter().all(|name| before.contains(name))
        }
    };
    (0..calls.len())
        .filter(|at| turn.is_aside(*at))
        .filter(|at| outcomes.any_tests(*at) == Some(SummaryVerdict::Failed))
        .any(is_same)
}
