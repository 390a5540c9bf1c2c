//! The built-in rule packs, and their detection in a project.

use std::sync::LazyLock;

use globset::GlobMatcher;

use super::pack_names::{GENERIC, NAMES, ProjectFacts, TEXTS};
use super::{Rule, glob};
use crate::config::rule_entry::PackFile;

static ALL: LazyLock<Vec<Pack>> = LazyLock::new(|| {
    NAMES
        .iter()
        .zip(TEXTS)
        .map(|(name, text)| Pack::read(name, text))
        .collect()
});

/// Returns the names of the files that switch on a pack wherever they are; of a pattern, the shortest name that fits.
pub fn manifests() -> impl Iterator<Item = String> {
    let globs = ALL.iter().flat_map(|pack| &pack.detect);
    globs.filter_map(|glob| Some(glob.strip_prefix("**/")?.replace('*', "")))
}

/// A list of rules that belong together.
#[derive(Debug)]
pub struct Pack {
    /// Its name.
    pub name: &'static str,
    /// Globs over [`ProjectFacts::files`], any of which switches it on.
    pub detect: Vec<String>,
    /// Its rules, in order.
    pub rules: Vec<Rule>,
    /// The globs of `detect`, compiled; `None` for an invalid one.
    matchers: Vec<Option<GlobMatcher>>,
}

impl Pack {
    fn read(name: &'static str, text: &str) -> Self {
        let file = PackFile::read(name, text)
            .unwrap_or_else(|error| panic!("a pack of the program is broken: {error}"));
        let (detect, rules) = file.into_rules(name);
        let matcher = |pattern: &String| {
            glob(pattern.trim_end_matches('/'))
                .ok()
                .map(|glob| glob.compile_matcher())
        };
        let matchers = detect.iter().map(matcher).collect();
        Self {
            name,
            detect,
            rules,
            matchers,
        }
    }

    /// Returns whether the project's files switch this pack on.
    fn detects(&self, facts: &ProjectFacts) -> bool {
        // `generic` is always on.
        let speaks = |(pattern, matcher): (&String, &Option<GlobMatcher>)| {
            facts
                .files
                .iter()
                .any(|file| speaks(pattern, matcher.as_ref(), file))
        };
        self.name == GENERIC || self.detect.iter().zip(&self.matchers).any(speaks)
    }
}

/// Returns whether a file of a project matches a pattern.
fn speaks(pattern: &str, matcher: Option<&GlobMatcher>, file: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let file = file.trim_end_matches('/');
    let below = file
        .strip_prefix(pattern)
        .is_some_and(|rest| rest.starts_with('/'));
    below || matcher.is_some_and(|matcher| matcher.is_match(file))
}

/// Returns all packs, the most specific first.
pub fn all() -> &'static [Pack] {
    &ALL
}

/// Returns the names of the packs that a project switches on.
pub fn detect(facts: &ProjectFacts) -> Vec<&'static str> {
    ALL.iter()
        .filter(|pack| pack.detects(facts))
        .map(|pack| pack.name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_switches_packs_on_by_what_it_contains() {
        let table = [
            "",
            "README.md",
            "teleclaude/ pyproject.toml tests/",
            "teleclaude",
            "teleclaude.py",
            "Cargo.toml src/",
            "package.json backend/go.mod",
            "requirements-dev.txt",
            "web/package.json api/Cargo.toml",
            "Makefile Cargo.toml.orig",
        ]
        .map(|files| {
            let facts = ProjectFacts {
                path: "/p".into(),
                files: files.split_whitespace().map(String::from).collect(),
            };
            format!("{files:?}: {}", detect(&facts).join(" "))
        });
        insta::assert_snapshot!(table.join("\n"), @r#"
        "": generic
        "README.md": generic
        "teleclaude/ pyproject.toml tests/": teleclaude python generic
        "teleclaude": teleclaude generic
        "teleclaude.py": generic
        "Cargo.toml src/": rust generic
        "package.json backend/go.mod": node go generic
        "requirements-dev.txt": python generic
        "web/package.json api/Cargo.toml": rust node generic
        "Makefile Cargo.toml.orig": generic
        "#);
    }
}
