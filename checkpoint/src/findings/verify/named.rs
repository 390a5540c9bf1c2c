//! Tests that are run by their names: programs, and classes (spec EVID-23).

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

/// Returns the patterns by which a command chooses classes of tests by their names, if the languages of its tools have
/// files of the same names.
pub(super) fn classes(simple: &Simple) -> Vec<String> {
    let mut words = simple.words.iter().map(String::as_str);
    let options: &[&str] = match words.next() {
        Some("mvn" | "mvnw") => &["-Dtest", "-Dit.test"],
        Some("gradle" | "gradlew") => &["--tests"],
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        if options.contains(&option) {
            let value = value.or_else(|| words.next()).unwrap_or_default();
            found.extend(value.split(',').map(|part| part.trim().to_owned()));
        }
    }
    // What is left out does not say what is chosen.
    if found.iter().any(|part| part.starts_with('!')) {
        return Vec::new();
    }
    found
}

/// Returns whether a pattern may choose the class of a file: `ShopTest`, `com.shop.Shop*`, `ShopTest#buys`.
pub(super) fn chooses(pattern: &str, path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let class = pattern.split('#').next().unwrap_or_default();
    let mut parts = class
        .split(['.', '$', '/', '*', '?'])
        .filter(|part| part.starts_with(|first: char| first.is_uppercase()))
        .peekable();
    let is_open = class.contains(['*', '?']);
    // Of a package all classes.
    parts.peek().is_none() || parts.any(|part| part == stem || (is_open && stem.contains(part)))
}
