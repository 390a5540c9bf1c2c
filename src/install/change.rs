//! The changes that installing makes to files, and our entries in them.

use std::path::PathBuf;

use journal::Agent;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::version::Version;
use crate::edit::files;

/// The status of an entry after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Added,
    /// No change was needed.
    AlreadyThere,
    /// It existed in another form, or more than once.
    Updated,
    Removed,
    /// It belongs to the user and stays.
    Kept,
}

impl Status {
    /// Returns the status of an entry that is written, by whether it was there, and the file as it will be.
    pub(super) const fn written(was_there: bool, is_same: bool) -> Self {
        match (was_there, is_same) {
            (false, _) => Self::Added,
            (true, true) => Self::AlreadyThere,
            (true, false) => Self::Updated,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::AlreadyThere => "already there",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::Kept => "kept",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The hook's event, or another name.
    pub(crate) name: String,
    pub(crate) status: Status,
}

impl Entry {
    pub(super) fn new(name: impl Into<String>, status: Status) -> Self {
        Self {
            name: name.into(),
            status,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// JSON file with hooks.
    Settings,
    /// A file without which the hooks are not called: Codex's config.toml, the patches of the DeepSeek Harness.
    Trust,
    /// A slash command's prompt; the whole file is ours.
    Prompt,
    /// A file with hooks, all of it ours.
    Own,
    /// TOML file with hooks.
    Tables,
}

/// A file before and after the change.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The agent that the file belongs to.
    pub(crate) agent: Agent,
    pub(crate) kind: Kind,
    /// The path, links not followed.
    pub(crate) path: PathBuf,
    /// The content before; `None` if the file does not exist.
    pub(crate) before: Option<Vec<u8>>,
    /// The content after; `None` if the file is removed.
    pub(crate) after: Option<Vec<u8>>,
    /// The content without our entries, for uninstalling.
    pub(crate) without_us: Option<Vec<u8>>,
    /// The status of each of our entries.
    pub(crate) entries: Vec<Entry>,
}

impl Change {
    /// Returns whether the file has to be written.
    pub(crate) fn is_needed(&self) -> bool {
        self.before != self.after
    }

    /// Returns what the file holds as text; empty if it does not exist.
    pub(crate) fn text_before(&self) -> String {
        files::text(self.before.as_deref())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AgentPlan {
    pub(crate) agent: Agent,
    /// The folder of the agent's settings.
    pub(crate) folder: PathBuf,
    pub(crate) version: Option<Version>,
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<String>,
}

/// Where hooks are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In the user's settings, for all projects.
    User,
    /// In this project's folder.
    Project(PathBuf),
}

pub(super) use journal::hex;

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
