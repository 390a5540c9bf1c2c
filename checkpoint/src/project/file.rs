//! Files of a project, and the parts of their paths.

use std::collections::BTreeSet;

use crate::catalogue::Catalogue;

/// A file of a project: its path from the top of the work tree, and its text; empty if only its presence counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Names of the files that are read in each folder.
pub const READ: &[&str] = &[
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "mise.toml",
    ".mise.toml",
    ".config/mise.toml",
    "pyproject.toml",
    "Cargo.toml",
    ".cargo/config.toml",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "go.mod",
    "go.work",
    "pnpm-workspace.yaml",
    "turbo.json",
    "project.json",
    "noxfile.py",
    "tox.ini",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "pom.xml",
    "Rakefile",
    "pubspec.yaml",
    ".gitlab-ci.yml",
];

/// Returns the names of files that are only checked for presence: manifests, lock files, and what tells how a project is
/// called on.
pub fn seen() -> BTreeSet<&'static str> {
    let languages = Catalogue::built_in().languages().iter();
    let names = languages.flat_map(|language| {
        let beside = language.projects.iter().flat_map(|kind| &kind.beside);
        beside.chain(&language.locks).map(String::as_str)
    });
    let mut seen: BTreeSet<&str> = manifests().chain(names).collect();
    seen.retain(|name| !READ.contains(name));
    seen
}

/// Returns the names of the files that make a folder a package.
pub(super) fn manifests() -> impl Iterator<Item = &'static str> {
    let languages = Catalogue::built_in().languages().iter();
    let kinds = languages.flat_map(|language| &language.projects);
    kinds.map(|kind| kind.manifest.as_str())
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of a path; empty at the top.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the texts in quotes of either kind that a line of code holds.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = if rest[at..].starts_with('"') {
            '"'
        } else {
            '\''
        };
        let Some((inner, after)) = rest[at + 1..].split_once(quote) else {
            break;
        };
        found.push(inner.to_owned());
        rest = after;
    }
    found
}
