//! Files of a project, and the parts of their paths.

/// A file of a project: its path from the top of the work tree, and its text; empty if only its presence counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Names of the files of which only the presence counts.
pub const SEEN: &[&str] = &[
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "setup.py",
    "setup.cfg",
    "Package.swift",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "mix.exs",
    "Gemfile",
    "pubspec.yaml",
    "build.sbt",
    "CMakeLists.txt",
    "gleam.toml",
    "build.zig",
    "elm.json",
];

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of a path; empty at the top.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
