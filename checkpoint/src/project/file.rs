//! Files of a project, and the parts of their paths.

/// A file of a project: its path from the top of the work tree, and its text; empty if only its presence counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Names of files that are only checked for presence.
pub const SEEN: &[&str] = &[
    "pnpm-lock.yaml",
    "package-lock.json",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "setup.py",
    "setup.cfg",
    "Package.swift",
    "mix.exs",
    "Gemfile",
    "build.sbt",
    "CMakeLists.txt",
    "gleam.toml",
    "build.zig",
    "elm.json",
    "rebar.config",
    "stack.yaml",
    "cabal.project",
    "dune-project",
    "meson.build",
    "DESCRIPTION",
    "Project.toml",
    // What tells how a project is called on.
    "gradlew",
    "mvnw",
    ".rspec",
    "bin/rails",
    "artisan",
    "phpunit.xml",
    "phpunit.xml.dist",
    "NAMESPACE",
    "test/runtests.jl",
];

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
