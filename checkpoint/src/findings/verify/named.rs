//! Tests that run as programs of their own names (spec EVID-23).

use super::kind::Kind;
use super::reach::Reach;
use super::run::Does;
use crate::findings::turn::Turn;
use crate::project::covering::{Family, family, names_one};
use crate::project::resolve::Map;
use crate::project::{file_name, is_test};
use crate::shell::Simple;

/// Returns the run of the test from which a program was built that a command runs, by its name.
pub(super) fn compiled(turn: &Turn<'_>, simple: &Simple, map: &Map<'_>) -> Option<Does> {
    if !turn.policy.verify.scope.tells_tests_apart() {
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
