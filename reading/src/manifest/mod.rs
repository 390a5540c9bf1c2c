//! Which dependencies a manifest names (spec RULE-18). Total over any text: what cannot be read has no answer.

mod tables;
mod texts;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use globset::GlobSet;

use crate::catalogue::{Catalogue, Form, Manifest, globs};

/// The manifests of all languages, and the globs of their paths with the manifest of each.
static KNOWN: LazyLock<(GlobSet, Vec<&Manifest>)> = LazyLock::new(|| {
    let languages = Catalogue::built_in().languages().iter();
    let manifests = languages.flat_map(|language| &language.manifests);
    let files =
        manifests.flat_map(|manifest| manifest.files.iter().map(move |file| (file, manifest)));
    let (files, manifests): (Vec<&String>, Vec<&Manifest>) = files.unzip();
    (globs(files), manifests)
});

/// Returns what is known of a manifest by its path; `None` for other files.
pub fn format(path: &str) -> Option<&'static Manifest> {
    let (globs, manifests) = &*KNOWN;
    globs.matches(path).first().map(|first| manifests[*first])
}

/// Returns whether a package manager writes this file after it has chosen versions.
pub fn is_lock(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut languages = Catalogue::built_in().languages().iter();
    languages.any(|language| language.locks.iter().any(|lock| lock == name))
        || name.ends_with(".lock")
        || name.ends_with(".lockfile")
}

/// Returns whether a lock file, by its path, may hold the versions of a manifest's dependencies: it is beside the
/// manifest or above it.
pub fn may_lock(manifest: &str, lock: &str) -> bool {
    let folder = lock.rsplit_once('/').map_or("", |(folder, _)| folder);
    let within = manifest.strip_prefix(folder);
    folder.is_empty() || within.is_some_and(|rest| rest.starts_with('/'))
}

/// Returns whether two texts of a manifest name the same dependencies in the same versions; `before` is `None` for a
/// new file. A text that cannot be read names others than any text.
pub fn names_the_same(format: &Manifest, before: Option<&str>, now: &str) -> bool {
    let before = match before {
        Some(text) => dependencies(format, text),
        None => Some(BTreeSet::new()),
    };
    before.is_some() && before == dependencies(format, now)
}

/// Returns each dependency with its version, one line each.
fn dependencies(manifest: &Manifest, text: &str) -> Option<BTreeSet<String>> {
    let parts = &manifest.parts;
    match manifest.form {
        Form::Json => tables::json(text, parts),
        Form::Toml => tables::toml(text, parts),
        Form::Yaml => tables::yaml(text, parts),
        Form::Lines => Some(texts::lines(text, &manifest.without)),
        Form::Blocks => Some(texts::blocks(text, parts)),
        Form::Elements => Some(texts::elements(text, parts)),
    }
}

#[cfg(test)]
mod tests;
