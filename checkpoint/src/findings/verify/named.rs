//! Tests that run by their own names: as scripts of a task, or as programs (spec EVID-23).

use super::kind::Kind;
use super::program;
use super::reach::Reach;
use super::run::Does;
use crate::findings::turn::Turn;
use crate::policy::VerifiedCode;
use crate::project::covering::{Family, family, names_one};
use crate::project::resolve::{Map, Placed};
use crate::project::{file_name, is_test};
use crate::shell::Simple;

/// Returns the run of the test from which a program was built that a command runs, by its name.
pub(super) fn compiled(turn: &Turn<'_>, simple: &Simple, map: &Map<'_>) -> Option<Does> {
    if turn.policy.verify.scope != VerifiedCode::Files {
        return None;
    }
    let covering = map.workspace.covered.iter();
    let known = covering.flat_map(|(_, tests)| tests.iter().map(String::as_str));
    let changed = turn.files.iter().map(|file| file.path.as_str());
    let mut tests = known.chain(changed.filter(|path| is_test(path)));
    let test = tests.find(|test| is_built_from(simple, test))?;
    Some(Does::Tool {
        kind: Kind::Tests,
        family: family(test),
        reach: Reach::Tests(vec![test.to_owned()]),
    })
}

/// Returns the tests that the commands of a task run, if each of them runs a script that is a test of something.
pub(super) fn of_task(turn: &Turn<'_>, placed: &[Placed]) -> Option<Vec<String>> {
    if turn.policy.verify.scope != VerifiedCode::Files || placed.is_empty() {
        return None;
    }
    let test = |one: &Placed| {
        let script = program::script_of(&one.simple).filter(|script| names_one(script));
        script.map(|script| script.trim_start_matches("./").to_owned())
    };
    placed.iter().map(test).collect()
}

/// Limits a run of tests to those that are named.
pub(super) fn narrowed(does: Does, tests: Option<Vec<String>>) -> Does {
    match (does, tests) {
        (
            Does::Tool {
                kind: Kind::Tests,
                family,
                ..
            },
            Some(tests),
        ) => Does::Tool {
            kind: Kind::Tests,
            family,
            reach: Reach::Tests(tests),
        },
        (does, _) => does,
    }
}

/// Returns whether a command runs a program that was built from a test: it has the test's name.
fn is_built_from(simple: &Simple, test: &str) -> bool {
    const COMPILED: [Family; 5] = [
        Family::Native,
        Family::Swift,
        Family::Haskell,
        Family::Zig,
        Family::OCaml,
    ];
    let name = simple.words.first().map_or("", |word| file_name(word));
    let stem = file_name(test).rsplit_once('.').map(|(stem, _)| stem);
    stem == Some(name.strip_suffix(".exe").unwrap_or(name))
        && COMPILED.contains(&family(test))
        && names_one(test)
}
