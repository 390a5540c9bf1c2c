//! Files of a project, and the parts of their paths.

use std::collections::BTreeSet;

use crate::catalogue::{Catalogue, TaskFiles};

/// A file of a project: its path from the top of the work tree, and its text; empty if only its presence counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Returns the names of the files that are read in each folder, in order.
pub fn read_files() -> impl Iterator<Item = &'static str> {
    let files = task_files().flat_map(|known| &known.files);
    files.map(String::as_str)
}

fn task_files() -> impl Iterator<Item = &'static TaskFiles> {
    let languages = Catalogue::built_in().languages().iter();
    languages.flat_map(|language| &language.task_files)
}

/// Returns the program that runs the tasks of a file, by the file's name; empty if it has none.
pub(super) fn usual_runner(name: &str) -> &'static str {
    let mut known = task_files();
    let known = known.find(|known| known.files.iter().any(|file| file_name(file) == name));
    known.map_or("", |known| &known.runner)
}

/// Returns the names of files that are only checked for presence: manifests, lock files, and what tells how a project is
/// called on.
pub fn seen() -> BTreeSet<&'static str> {
    let languages = Catalogue::built_in().languages().iter();
    let names = languages.flat_map(|language| {
        let beside = language.projects.iter().flat_map(|kind| &kind.beside);
        beside.chain(&language.locks).map(String::as_str)
    });
    let mut seen: BTreeSet<&str> = manifests().chain(names).collect();
    for name in read_files() {
        seen.remove(name);
    }
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

/// Returns the path of a file in a folder; the top is the empty path.
pub fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}
