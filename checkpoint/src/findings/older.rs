//! Tests of which the agent says that they failed before the turn (spec EVID-22).

use std::sync::LazyLock;

use journal::{Summary, SummaryKind};
use regex::{Regex, RegexBuilder};

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

/// Returns whether tests of which some failed are to be taken for passed: the agent says that those are older.
pub(super) fn only_older_failed(turn: &Turn<'_>, index: usize) -> bool {
    let passed = |said: &Summary| {
        said.kind == SummaryKind::Tests && said.passed.is_some_and(|passed| passed > 0)
    };
    let outcomes = turn.outcomes.as_ref();
    turn.policy.hygiene.handed_over == HandedOver::Believed
        && turn.evidence.facts.older_failures
        && outcomes.is_some_and(|outcomes| outcomes.of(index).iter().any(passed))
}
