//! The rule packs, and their detection in a project: one for each language of the catalogue, and two files.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use globset::GlobMatcher;
use journal::Step;

use super::pack_names::{GENERIC, ProjectFacts, TELECLAUDE, languages, shown_by};
use super::{Kind, Rule, RuleAction, glob};
use crate::catalogue::Language;
use crate::config::rule_entry::{ORDER_LAST, PackFile};

static ALL: LazyLock<Vec<Pack>> = LazyLock::new(|| {
    let first = Pack::read(TELECLAUDE, include_str!("../../packs/teleclaude.yml"));
    let last = Pack::read(GENERIC, include_str!("../../packs/generic.yml"));
    let languages = languages().map(Pack::of);
    [first].into_iter().chain(languages).chain([last]).collect()
});

/// Returns the names of the files that switch on a pack wherever they are; of a pattern, the shortest name that fits.
pub fn manifests() -> impl Iterator<Item = String> {
    let globs = ALL.iter().flat_map(|pack| &pack.detect);
    let names = globs.filter_map(|glob| Some(glob.strip_prefix("**/")?.replace('*', "")));
    // A file may show more than one kind of project.
    names.collect::<BTreeSet<_>>().into_iter()
}

/// What verifies code.
const TESTS: [&str; 1] = ["tests"];
/// What shows that dependencies are there: they were installed, or something ran with them.
const USES: [&str; 6] = ["install", "serve", "run", "types", "build", "tests"];

/// Where installs come among the actions of their step.
const INSTALL_ORDER: u32 = 20;

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
        Self::new(name, detect, rules)
    }

    /// Returns the pack of a language: its code, its tests, and what it depends on.
    fn of(language: &'static Language) -> Self {
        let (name, tests) = (&language.language, anywhere(&language.tests));
        let manifests = language.manifests.iter().flat_map(|known| &known.files);
        let needs = anywhere(manifests.chain(&language.locks));
        let rule = |name: &str, kind, include, action| Rule {
            name: name.to_owned(),
            pack: language.file.to_owned(),
            kind,
            include,
            alone: kind == Kind::Tests,
            actions: vec![action],
            ..Rule::default()
        };
        let text = format!("Run the tests that cover the changed {name} code");
        let run = (TESTS.as_slice(), "a test run", language.usual());
        let mut code = rule(
            &format!("{name} code"),
            Kind::Code,
            code(language),
            action(name, &text, run),
        );
        code.exclude.clone_from(&tests);
        let text = "Run targeted tests for changed test files";
        let mut tests = rule("tests only", Kind::Tests, tests, action(name, text, run));
        tests.modified = "Test files were modified".to_owned();
        let (text, label, command) = match language.installs.as_str() {
            "" => (
                "Build with the changed manifest",
                "a build",
                language.builds(),
            ),
            installs => ("Install updated dependencies", "an install", installs),
        };
        let install = (USES.as_slice(), label, command);
        let install = action(name, text, install);
        let mut needs = rule("dependencies", Kind::Settings, needs, install);
        needs.modified = "Dependencies were modified".to_owned();
        let mut rules = vec![code, tests, needs];
        rules.retain(|rule| !rule.include.is_empty());
        Self::new(language.file, anywhere(shown_by(language)), rules)
    }

    fn new(name: &'static str, detect: Vec<String>, rules: Vec<Rule>) -> Self {
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

/// Returns globs of these files in any folder.
fn anywhere<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let names = names.into_iter();
    names.map(|name| format!("**/{name}")).collect()
}

/// Returns globs of a language's code. What has no comments is a page or a style: `generic` takes it.
fn code(language: &Language) -> Vec<String> {
    let only: Vec<&String> = language
        .comments
        .iter()
        .flat_map(|form| &form.only)
        .collect();
    let endings = language.files.iter();
    let endings = endings.filter(|ending| only.is_empty() || only.contains(ending));
    endings.map(|ending| format!("**/*.{ending}")).collect()
}

/// Returns an action of a language: its instruction, and what shows that it was done, in general and by its usual command.
fn action(language: &str, text: &str, (does, label, usual): (&[&str], &str, &str)) -> RuleAction {
    let with = |text: &str| match usual {
        "" => text.to_owned(),
        usual => format!("{text} (`{usual}`)"),
    };
    let is_tests = does == TESTS;
    RuleAction {
        purpose: if is_tests { "tests" } else { "install" }.to_owned(),
        text: with(text),
        evidence: does
            .iter()
            .map(|does| format!("{{{language} {does}}}"))
            .collect(),
        label: with(label),
        step: if is_tests {
            Step::Validate
        } else {
            Step::Runtime
        },
        order: if is_tests { ORDER_LAST } else { INSTALL_ORDER },
        after: None,
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
        "package.json backend/go.mod": go javascript generic
        "requirements-dev.txt": python generic
        "web/package.json api/Cargo.toml": javascript rust generic
        "Makefile Cargo.toml.orig": generic
        "#);
    }
}
