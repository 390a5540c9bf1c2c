//! Which dependencies a manifest names (spec RULE-18). Total over any text: what cannot be read has no answer.

mod tables;
mod texts;

use std::collections::BTreeSet;

use crate::catalogue::Catalogue;

/// The form of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `package.json`.
    Npm,
    /// `Cargo.toml`.
    Cargo,
    /// `pyproject.toml`.
    Pyproject,
    /// `Pipfile`.
    Pipfile,
    /// `libs.versions.toml`, the version catalog of Gradle.
    Catalog,
    /// `composer.json`.
    Composer,
    /// `pubspec.yaml`.
    Pubspec,
    /// `environment.yml` of conda.
    Conda,
    /// `requirements.txt`.
    Requirements,
    /// `go.mod`.
    GoModule,
    /// `Gemfile`.
    Gemfile,
    /// `pom.xml`.
    Maven,
}

/// Returns the form of a manifest by its name; `None` for other files.
pub fn format(path: &str) -> Option<Format> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folder.rsplit('/').next().unwrap_or_default();
    match name {
        "package.json" => Some(Format::Npm),
        "Cargo.toml" => Some(Format::Cargo),
        "pyproject.toml" => Some(Format::Pyproject),
        "Pipfile" => Some(Format::Pipfile),
        "composer.json" => Some(Format::Composer),
        "pubspec.yaml" => Some(Format::Pubspec),
        "environment.yml" | "environment.yaml" => Some(Format::Conda),
        "go.mod" => Some(Format::GoModule),
        "Gemfile" | "gems.rb" => Some(Format::Gemfile),
        "pom.xml" => Some(Format::Maven),
        _ if name.ends_with(".versions.toml") => Some(Format::Catalog),
        _ if name.ends_with(".txt")
            && (name.starts_with("requirements") || folder == "requirements") =>
        {
            Some(Format::Requirements)
        }
        _ => None,
    }
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
    folder.is_empty()
        || manifest
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Returns whether two texts of a manifest name the same dependencies in the same versions; `before` is `None` for a
/// new file. A text that cannot be read names others than any text.
pub fn names_the_same(format: Format, before: Option<&str>, now: &str) -> bool {
    let before = match before {
        Some(text) => dependencies(format, text),
        None => Some(BTreeSet::new()),
    };
    before.is_some() && before == dependencies(format, now)
}

/// Returns each dependency with its version, one line each.
fn dependencies(format: Format, text: &str) -> Option<BTreeSet<String>> {
    match format {
        Format::Npm => tables::json(text, tables::NPM),
        Format::Composer => tables::json(text, tables::COMPOSER),
        Format::Cargo => tables::toml(text, tables::CARGO),
        Format::Pyproject => tables::toml(text, tables::PYPROJECT),
        Format::Pipfile => tables::toml(text, tables::PIPFILE),
        Format::Catalog => tables::toml(text, tables::ALL),
        Format::Pubspec => tables::yaml(text, tables::PUBSPEC),
        Format::Conda => tables::yaml(text, tables::CONDA),
        Format::Requirements => Some(texts::lines(text, "#")),
        Format::GoModule => Some(texts::go_module(text)),
        Format::Gemfile => Some(texts::gemfile(text)),
        Format::Maven => Some(texts::maven(text)),
    }
}

#[cfg(test)]
mod tests;
