//! Whether tests that ran later hold those that failed before (spec HYG-14).

use std::sync::LazyLock;

use journal::SummaryVerdict;
use regex::Regex;

use super::turn::Turn;
use super::verify::kinds;
use crate::policy::Narrower;
use crate::shell::Simple;

/// Maximum number of failed tests of one output that are searched for.
const NAMES_MAX: usize = 64;

/// Words of a line of tests that choose none of them.
const GENERAL: [&str; 28] = [
    ".",
    "./...",
    "...",
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "t",
    "src",
    "run",
    "exec",
    "nextest",
    "check",
    "verify",
    "unittest",
    "discover",
    "manage.py",
    "artisan",
    "coverage",
    "all",
    "ci",
    "pytest",
    "jest",
    "vitest",
    "phpunit",
    "ctest",
    "build",
];
/// Options whose value chooses tests.
const CHOOSING: [&str; 22] = [
    "-k",
    "-t",
    "-g",
    "-R",
    "-e",
    "-run",
    "-p",
    "--package",
    "--grep",
    "--tests",
    "--test",
    "--filter",
    "--testNamePattern",
    "--testPathPattern",
    "--test-name-pattern",
    "-Dtest",
    "--gtest_filter",
    "--only",
    "--name",
    "-only-testing",
    "--match",
    "--plain-name",
];
/// Options that choose the tests that failed last.
const LAST_FAILED: [&str; 6] = [
    "--lf",
    "--last-failed",
    "--onlyFailures",
    "--only-failures",
    "--rerun-failed",
    "--failed",
];
/// Represents a selection that leaves tests out.
const LEFT_OUT: &str = "\u{0}";
/// Options that leave tests out.
const LEAVING_OUT: [&str; 6] = [
    "--deselect",
    "--ignore",
    "--exclude",
    "--skip",
    "-E",
    "--testPathIgnorePatterns",
];
/// Runners of scripts: what follows a script's name goes to what it runs.
const SCRIPTS: [&str; 10] = [
    "npm", "pnpm", "yarn", "bun", "make", "just", "mise", "task", "composer", "deno",
];

/// How runners name a test or a file of tests that failed.
static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^\s*(?:FAILED|ERROR) (\S+?\.py\S*)|^\s*(?:FAIL|❯|×)\s+(\S+\.(?:[cm]?[jt]sx?|vue|php)\b)|^\s*--- FAIL: (\S+)",
        r"|^test (\S+) \.\.\. FAILED|^rspec (\S+)|^\s*\d+\) (?:test |Test)(.+)|^\[ERROR\] +(\w\S*)|^\s*\d+ - (\S+) \(",
        r"|^(?:ERROR|FAIL): (\w+) \(",
    ))
    .expect("a constant that a test compiles")
});

/// Returns whether the policy asks which tests a run held.
pub(super) fn is_weighed(turn: &Turn<'_>) -> bool {
    turn.policy.hygiene.narrower == Narrower::Open
}

/// Returns whether tests of a later call may settle those that failed: they are no fewer, or hold the ones that failed.
pub(super) fn settles(turn: &Turn<'_>, failed: usize, later: usize) -> bool {
    if !is_weighed(turn) {
        return true;
    }
    let (before, after) = (tests(turn, failed), tests(turn, later));
    // What starts its tests by other means is not known to choose any.
    if before.is_empty() || after.is_empty() {
        return true;
    }
    if after.iter().any(Choice::is_all) {
        return true;
    }
    let chosen: Vec<&str> = after
        .iter()
        .flat_map(|choice| choice.of.iter().copied())
        .collect();
    // What the agent left out knowingly, it says.
    let left_out = after
        .iter()
        .any(|choice| choice.of.iter().all(|one| *one == LEFT_OUT));
    let is_said = turn.evidence.facts.named_failures.contains(&failed) || turn.is_reported(failed);
    if left_out && is_said {
        return true;
    }
    let is_all = before.iter().any(Choice::is_all);
    let mut wanted = before.iter().flat_map(|choice| &choice.of);
    if !is_all && wanted.all(|one| chosen.iter().any(|other| takes(other, one))) {
        return true;
    }
    let names = names_of_failed(&turn.evidence.timeline.calls[failed].output);
    !names.is_empty()
        && names
            .iter()
            .all(|name| chosen.iter().any(|one| takes(one, name)))
}

/// Returns whether the tests of a call were chosen by no name or pattern: all of its place, or by their files.
pub(super) fn chooses_no_names(turn: &Turn<'_>, call: usize) -> bool {
    let is_path = |one: &str| one.contains(['/', '.']) && !one.contains("::");
    tests(turn, call)
        .iter()
        .all(|choice| !choice.last_failed && choice.of.iter().all(|one| is_path(one)))
}

/// Returns the tests, or the files of tests, that an output says have failed.
pub(super) fn names_of_failed(output: &str) -> Vec<&str> {
    FAILED
        .captures_iter(output)
        .filter_map(|found| found.iter().skip(1).flatten().next())
        .map(|name| name.as_str().trim())
        .take(NAMES_MAX)
        .collect()
}

/// Returns whether a run of tests failed only in files other than these, and a later run settled that.
pub(super) fn passed_for(turn: &Turn<'_>, failed: usize, tests: &[&str]) -> bool {
    let names = names_of_failed(&turn.evidence.timeline.calls[failed].output);
    let file = |name: &str| name.split("::").next().unwrap_or(name).to_owned();
    let is_other = |name: &&str| {
        let name = file(name);
        name.contains('.')
            && !tests
                .iter()
                .any(|test| takes(&name, test) || takes(test, &name))
    };
    let passes = |later: usize| {
        let outcomes = turn.outcomes.as_ref();
        outcomes.and_then(|outcomes| outcomes.any_tests(later)) == Some(SummaryVerdict::Passed)
            && settles(turn, failed, later)
    };
    is_weighed(turn)
        && !names.is_empty()
        && !tests.is_empty()
        && names.iter().all(is_other)
        && (failed + 1..turn.lines.len()).any(passes)
}

/// The tests that a run selected.
struct Choice<'a> {
    of: Vec<&'a str>,
    last_failed: bool,
}

impl Choice<'_> {
    fn is_all(&self) -> bool {
        self.of.is_empty() || self.last_failed
    }
}

fn tests<'t>(turn: &'t Turn<'_>, call: usize) -> Vec<Choice<'t>> {
    let commands = turn.lines[call].commands.iter();
    commands
        .filter(|simple| kinds::is_tests(simple))
        .map(choice)
        .collect()
}

/// Returns the files, folders and names that a run of tests was given.
fn choice(simple: &Simple) -> Choice<'_> {
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    let program = words.first().copied().unwrap_or_default();
    let mut found = Choice {
        of: Vec::new(),
        last_failed: false,
    };
    let is_script = SCRIPTS.contains(&program);
    let mut rest = words.iter().skip(1).copied().peekable();
    // `npm run test:unit -- a.test.ts`: the script's name chooses none.
    if is_script {
        rest.by_ref()
            .find(|word| !word.starts_with('-') && *word != "run");
    }
    while let Some(word) = rest.next() {
        if let Some((option, value)) = word
            .split_once(['=', ':'])
            .filter(|_| word.starts_with('-'))
        {
            if CHOOSING.contains(&option) {
                found.of.push(value);
            } else if LEAVING_OUT.contains(&option) {
                found.of.push(LEFT_OUT);
            }
        } else if LAST_FAILED.contains(&word) {
            found.last_failed = true;
        } else if LEAVING_OUT.contains(&word) {
            found.of.push(LEFT_OUT);
            rest.next();
        } else if CHOOSING.contains(&word) {
            // Of pnpm and its like it chooses a package.
            found
                .of
                .extend(rest.next().filter(|_| !(is_script && word == "-p")));
        } else if !word.starts_with('-') && is_choice(word, program) {
            found.of.push(word);
        }
    }
    found
}

/// Returns whether an operand chooses tests: a path, the name of a test, or a pattern.
fn is_choice(word: &str, program: &str) -> bool {
    let plain = word.trim_start_matches("./").trim_end_matches('/');
    if GENERAL.contains(&plain) || plain.is_empty() || word.contains('=') {
        return false;
    }
    let takes_names = [
        "cargo", "jest", "vitest", "bun", "mocha", "ava", "npm", "pnpm", "yarn", "gradle",
        "gradlew",
    ];
    plain.contains(['/', '.', ':']) || takes_names.contains(&program)
}

/// Returns whether a choice takes a test, a file or a folder.
fn takes(choice: &str, one: &str) -> bool {
    let choice = choice
        .trim_start_matches("./")
        .trim_end_matches("/...")
        .trim_end_matches('/');
    let one = one.trim_start_matches("./");
    let file = |text: &str| {
        text.split("::")
            .next()
            .unwrap_or(text)
            .split(':')
            .next()
            .unwrap_or(text)
            .to_owned()
    };
    let is_below = one
        .strip_prefix(choice)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '.', '[']));
    is_below
        || (choice.contains("::") && one.starts_with(choice))
        || choice.split('|').any(|part| {
            part.len() > 2
                && (one.contains(part) || (!part.contains("::") && file(one).ends_with(part)))
        })
}
