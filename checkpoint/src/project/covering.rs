//! Which test covers which file (spec EVID-6).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use journal::{ChangedFile, Package};

use super::file::{file_name, folder};
use crate::catalogue::{Catalogue, Naming};

/// Tests that are named for one file.
const TESTS_MAX: usize = 8;
/// Changed files whose tests are searched for.
const FILES_MAX: usize = 300;
/// Tests whose text is read to see what they import.
const READ_MAX: usize = 80;

/// The tests of a repository.
pub struct Sources<'a> {
    /// The paths of its files that may be tests.
    pub listed: &'a [String],
    /// Whether that list is complete.
    pub complete: bool,
    /// Returns the beginning of a file.
    pub beginning: &'a dyn Fn(&str) -> Option<String>,
    /// Returns whether a Rust file in a folder has tests within it.
    pub rust_tests_in: &'a dyn Fn(&str) -> bool,
}

/// Returns whether a test asserts less often than it did.
pub fn is_loosened(before: &str, now: &str) -> bool {
    let asserts = |text: &str| {
        let text = text.to_lowercase();
        let times = |word: &&str| text.matches(*word).count();
        ["assert", "expect", "should", "require"]
            .iter()
            .map(times)
            .sum::<usize>()
    };
    asserts(now) < asserts(before)
}

static NAMING: LazyLock<Naming> =
    LazyLock::new(|| Catalogue::built_in().naming().cloned().unwrap_or_default());

/// Returns whether a file is a test, by its name and place: not one that only helps tests, or that others wrote.
pub fn is_test(path: &str) -> bool {
    let helps = ["conftest.py", "__init__.py"].contains(&file_name(path));
    let is_foreign = |part: &str| {
        let folders = [
            "node_modules",
            "vendor",
            "testdata",
            "fixtures",
            "__snapshots__",
            "target",
        ];
        folders.contains(&part)
    };
    !helps && Catalogue::built_in().is_test(path) && !folder(path).split('/').any(is_foreign)
}

/// Returns the stem of the file that a test is named for: `user` of `test_user.py`, `user.spec.ts`, `UserTest.java`.
fn subject(path: &str) -> Option<&str> {
    subject_of(file_name(path).rsplit_once('.')?.0)
}

fn subject_of(stem: &str) -> Option<&str> {
    if let Some(rest) = stem
        .strip_prefix("test_")
        .or_else(|| stem.strip_prefix("test-"))
    {
        return Some(rest);
    }
    let ends = |end: &str| stem.strip_suffix(end).filter(|rest| !rest.is_empty());
    if let Some(rest) = NAMING.ends.iter().find_map(|end| ends(end)) {
        return Some(rest);
    }
    // `UserIT`, but not `EDIT`.
    let words = NAMING.words.iter().find_map(|end| ends(end));
    words.filter(|rest| {
        rest.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit())
    })
}

/// Returns the tests that cover each changed file, and whether some may be missing.
pub fn covered(
    changed: &[ChangedFile],
    packages: &[Package],
    sources: &Sources<'_>,
) -> (Vec<(String, Vec<String>)>, bool) {
    let present = changed.iter().filter(|file| file.hash.is_some());
    let mut tests: Vec<&str> = sources
        .listed
        .iter()
        .map(String::as_str)
        .chain(present.map(|file| file.path.as_str()))
        .collect();
    let gone = |path: &str| {
        changed
            .iter()
            .any(|file| file.path == path && file.hash.is_none())
    };
    tests.retain(|path| is_test(path) && !gone(path));
    tests.sort_unstable();
    tests.dedup();
    let mut search = Search {
        packages,
        sources,
        tests,
        read: BTreeMap::new(),
        rust: BTreeMap::new(),
    };
    let mut found = Vec::new();
    for file in changed
        .iter()
        .filter(|file| file.hash.is_some())
        .take(FILES_MAX)
    {
        let covering = search.covering(&file.path);
        if !covering.is_empty() {
            found.push((file.path.clone(), covering));
        }
    }
    let unknown = !sources.complete || changed.len() > FILES_MAX;
    (found, unknown)
}

struct Search<'a> {
    packages: &'a [Package],
    sources: &'a Sources<'a>,
    tests: Vec<&'a str>,
    /// The lines of tests that import something.
    read: BTreeMap<&'a str, String>,
    /// Whether the files of a crate hold tests.
    rust: BTreeMap<String, bool>,
}

impl<'a> Search<'a> {
    fn covering(&mut self, path: &str) -> Vec<String> {
        if is_test(path) {
            return vec![path.to_owned()];
        }
        let Some((stem, _)) = file_name(path).rsplit_once('.') else {
            return Vec::new();
        };
        let home = package_of(self.packages, path);
        let in_package = |test: &&&str| package_of(self.packages, test) == home;
        let own = language(path);
        let same = self.tests.iter().filter(|test| language(test) == own);
        let found: Vec<&'a str> = match own {
            "Go" => same
                .filter(|test| folder(test) == folder(path))
                .copied()
                .collect(),
            "Rust" | "Swift" | "JVM" => same.filter(in_package).copied().collect(),
            "" => self.named(path, stem, home),
            _ => self.near(path, stem, home),
        };
        let mut found: Vec<String> = found
            .into_iter()
            .take(TESTS_MAX)
            .map(str::to_owned)
            .collect();
        if found.is_empty() && own == "Rust" && self.crate_has_tests(home) {
            found.push(path.to_owned());
        }
        found
    }

    fn crate_has_tests(&mut self, home: &str) -> bool {
        *self
            .rust
            .entry(home.to_owned())
            .or_insert_with(|| (self.sources.rust_tests_in)(home))
    }

    /// Tests that are named for a file, in its package.
    fn named(&self, path: &str, stem: &str, home: &str) -> Vec<&'a str> {
        let stem = module_name(path, stem);
        let named = |test: &&&str| {
            let subject = subject(test)
                .unwrap_or_else(|| file_name(test).split('.').next().unwrap_or_default());
            (same_name(subject, stem) || is_part_of(subject, stem)) && within(test, home)
        };
        self.tests.iter().filter(named).copied().collect()
    }

    /// Tests that are named for a file, are beside it, or import it.
    fn near(&mut self, path: &str, stem: &str, home: &str) -> Vec<&'a str> {
        let mut found = self.named(path, stem, home);
        if !found.is_empty() {
            return found;
        }
        let here = folder(path);
        let beside = |test: &&&str| {
            let place = folder(test);
            let place = place
                .strip_suffix("__tests__")
                .map_or(place, |place| place.trim_end_matches('/'));
            place == here && language(test) == language(path)
        };
        found.extend(self.tests.iter().filter(beside));
        if found.is_empty() {
            let candidates: Vec<&'a str> = self
                .tests
                .iter()
                .filter(|test| within(test, home))
                .copied()
                .collect();
            for test in candidates.into_iter().take(READ_MAX) {
                if self.imports(test, path, stem) {
                    found.push(test);
                }
            }
        }
        found
    }

    fn imports(&mut self, test: &'a str, path: &str, stem: &str) -> bool {
        let sources = self.sources;
        let lines = self
            .read
            .entry(test)
            .or_insert_with(|| imports_of(&(sources.beginning)(test).unwrap_or_default()));
        let stem = module_name(path, stem);
        !stem.is_empty() && names(lines, stem)
    }
}

/// Returns the name by which a file is known: its own, or that of its folder if its own says nothing.
fn module_name<'a>(path: &'a str, stem: &'a str) -> &'a str {
    let above = file_name(folder(path));
    let says_nothing = ["index", "main", "mod", "__init__", "__main__"].contains(&stem);
    let is_plain = above.is_empty() || ["src", "lib", "app", "source"].contains(&above);
    if says_nothing && !is_plain {
        above
    } else {
        stem
    }
}

/// Returns the lines that import something.
fn imports_of(text: &str) -> String {
    let mut kept = String::new();
    for line in text
        .lines()
        .filter(|line| NAMING.imports.iter().any(|word| line.contains(word)))
    {
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// Returns whether a text names a module: as a whole word, where `a-b` and `a_b` are one word.
fn names(text: &str, module: &str) -> bool {
    let part = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    text.match_indices(module).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + module.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Compares names in spite of their spelling: `user_list`, `user-list`, `UserList`.
fn same_name(left: &str, right: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars()
            .filter(|char| char.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let right = plain(right);
    !right.is_empty() && plain(left) == right
}

/// Returns whether the text of a Rust file has tests within it.
pub fn holds_rust_tests(text: &str) -> bool {
    ["#[test]", "#[cfg(test)]", "::test]", "::test("]
        .iter()
        .any(|mark| text.contains(mark))
}

/// Returns whether a test is about a part of a file: `CartDiscountTests` of `Cart`, `cart.errors.test.ts` of `cart`.
fn is_part_of(subject: &str, stem: &str) -> bool {
    let rest = subject.strip_prefix(stem).unwrap_or_default();
    let is_class = stem.starts_with(|first: char| first.is_ascii_uppercase());
    // `ATest` is no part of `A`: a name of few letters begins many others.
    stem.len() > 3
        && (rest.starts_with('.')
            || (is_class && rest.starts_with(|first: char| first.is_ascii_uppercase())))
}

/// Returns the folder of the package that a file belongs to.
pub(crate) fn package_of<'a>(packages: &'a [Package], path: &str) -> &'a str {
    let above = packages
        .iter()
        .filter(|package| within(path, &package.folder));
    above
        .max_by_key(|package| package.folder.len())
        .map_or("", |package| package.folder.as_str())
}

/// Returns whether a path is a folder or is below it.
pub(crate) fn within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the language of a file by its name; empty if it is not known, or if the file is part of a page.
fn language(path: &str) -> &'static str {
    let is_page = file_name(path)
        .rsplit('.')
        .next()
        .is_some_and(|ending| ["html", "css", "scss", "sass", "less", "sql"].contains(&ending));
    let known = Catalogue::built_in().language(path).filter(|_| !is_page);
    known.map_or("", |language| language.language.as_str())
}
