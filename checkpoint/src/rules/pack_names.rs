//! The names of the rule packs, and the facts of a project that select them.

use std::sync::LazyLock;

use crate::catalogue::{Catalogue, Language};

/// The pack that is always on: it matches what no other pack claims.
pub const GENERIC: &str = "generic";

/// The pack with the rules of TeleClaude, which are judged word for word (spec RULE-3).
pub const TELECLAUDE: &str = "teleclaude";

/// Names of the packs, the most specific first: a language has the name of its file in the catalogue.
pub static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let languages = languages().map(|language| language.file);
    [TELECLAUDE]
        .into_iter()
        .chain(languages)
        .chain([GENERIC])
        .collect()
});

/// Returns the languages of the catalogue that a project shows by a file.
pub(super) fn languages() -> impl Iterator<Item = &'static Language> {
    let all = Catalogue::built_in().languages().iter();
    all.filter(|language| !language.language.is_empty() && shown_by(language).next().is_some())
}

/// Returns the names of the files by which a project shows a language.
pub(super) fn shown_by(language: &Language) -> impl Iterator<Item = &String> {
    let manifests = language.manifests.iter();
    let projects = language.projects.iter();
    manifests
        .flat_map(|manifest| &manifest.files)
        .chain(projects.map(|project| &project.manifest))
}

/// The facts of a project that select its packs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Absolute path of its top folder.
    pub path: String,
    /// Names at its top, folders with a trailing `/`, and deeper files that were probed
    /// (`backend/Cargo.toml`).
    pub files: Vec<String>,
}
