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

/// Reads a file to edit it.
pub(super) fn read(path: &Path) -> Result<(Option<Vec<u8>>, Text)> {
    let before = files::read(path)?;
    let text = Text::of(before.as_deref(), path)?;
    Ok((before, text))
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
    let (before, text) = read(path)?;
    let is_empty = text.text.trim().is_empty();
    let begun = if is_empty { empty } else { &text.text };
    let (after, entries) = settings::merge(begun, wanted, shape).map_err(in_file(path))?;
    Ok(Edit {
        kind: Kind::Settings,
        path: path.to_owned(),
        before,
        text,
        after,
        entries,
    })
}
