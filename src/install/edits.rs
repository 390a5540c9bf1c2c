//! Edits of single files, before the content after uninstalling is known.

use std::path::{Path, PathBuf};

use super::change::{Entry, Kind};
use super::hooks::HookEntry;
use super::settings::{self, Shape};
use crate::edit::files::{self, Text};

pub(super) type Result<T> = std::result::Result<T, String>;

/// A file's bytes before and its text after.
pub(crate) struct Edit {
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
    /// The content; `None` if the file does not exist.
    pub(super) before: Option<Vec<u8>>,
    pub(super) text: Text,
    pub(super) after: String,
    pub(super) entries: Vec<Entry>,
}

impl Edit {
    /// Reads a file, and plans what `change` makes of its text.
    pub(super) fn new(
        kind: Kind,
        path: &Path,
        change: impl FnOnce(&str) -> Result<(String, Vec<Entry>)>,
    ) -> Result<Self> {
        let before = files::read(path)?;
        let text = Text::of(before.as_deref(), path)?;
        let (after, entries) = change(&text.text).map_err(in_file(path))?;
        Ok(Self {
            kind,
            path: path.to_owned(),
            before,
            text,
            after,
            entries,
        })
    }
}

pub(super) fn in_file(path: &Path) -> impl Fn(String) -> String + '_ {
    move |error| format!("{}: {error}; nothing was changed", path.display())
}

/// Adds our hooks to a settings file. `empty` replaces a file without content.
pub(super) fn settings(
    path: &Path,
    wanted: &[HookEntry],
    shape: Shape,
    empty: &str,
) -> Result<Edit> {
    Edit::new(Kind::Settings, path, |text| {
        let begun = if text.trim().is_empty() { empty } else { text };
        settings::merge(begun, wanted, shape)
    })
}
