//! Edits of single files, before it is known what they leave behind when they are undone.

use std::path::{Path, PathBuf};

use super::change::{Entry, Kind};
use super::hooks::Wanted;
use super::settings;
use crate::edit::files::{self, Text};

pub(super) type Result<T> = std::result::Result<T, String>;

/// A file as it is, and its text as it is to be.
pub(crate) struct Edit {
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
    /// What it holds; `None` if it does not exist.
    pub(super) before: Option<Vec<u8>>,
    pub(super) text: Text,
    pub(super) after: String,
    pub(super) entries: Vec<Entry>,
}

/// Reads a file for a change.
pub(super) fn read(path: &Path) -> Result<(Option<Vec<u8>>, Text)> {
    let before = files::read(path)?;
    let text = Text::of(before.as_deref(), path)?;
    Ok((before, text))
}

pub(super) fn in_file(path: &Path) -> impl Fn(String) -> String + '_ {
    move |error| format!("{}: {error}; nothing was changed", path.display())
}

/// Adds our hooks to a settings file.
///
/// # Errors
///
/// One sentence that names the file and what is wrong with it.
pub(super) fn settings(path: &Path, wanted: &[Wanted]) -> Result<Edit> {
    let (before, text) = read(path)?;
    let (after, entries) = settings::merge(&text.text, wanted).map_err(in_file(path))?;
    Ok(Edit {
        kind: Kind::Settings,
        path: path.to_owned(),
        before,
        text,
        after,
        entries,
    })
}
