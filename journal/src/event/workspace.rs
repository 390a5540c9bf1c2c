//! What a project's own files say about verifying a change.

use serde::{Deserialize, Serialize};

/// What a project's own files say about verifying the files that changed. Paths are relative to the top of the work tree;
/// the top itself is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workspace {
    /// Packages: folders above changed files that hold a manifest.
    pub packages: Vec<Package>,
    /// Tasks that the project defines.
    pub tasks: Vec<Task>,
    /// Tests that cover changed files: the file's path, and the tests' paths.
    pub covered: Vec<(String, Vec<String>)>,
    /// Whether the list of test files is not complete, so that a file that is not in `covered` may be covered after all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tests_unknown: bool,
}

/// A package of a work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Package {
    /// Its folder.
    pub folder: String,
    /// Its name, as the tools that choose packages by name know it; empty if its manifest has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The tool whose workspace at the top it is a member of (`pnpm`, `cargo`, `gradle`, ..); empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub member_of: String,
}

/// A task that a project defines: a script of package.json, or a target of a Makefile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    /// The folder of the file that defines it.
    pub folder: String,
    /// The program that runs it: `npm`, `pnpm`, `make`, `just`, `mise`, ..
    pub runner: String,
    /// Its name.
    pub name: String,
    /// The shell commands that it runs, other tasks as calls of their runner; cut if long.
    pub text: String,
}
