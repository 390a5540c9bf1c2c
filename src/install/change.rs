//! What installing does to files: changes, and the entries of ours in them.

use std::path::PathBuf;

use journal::Agent;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::version::Version;
use crate::edit::files;

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It is new.
    Added,
    /// It was as it is to be.
    AlreadyThere,
    /// It was there in another form, or more than once.
    Updated,
    /// It is taken out.
    Removed,
    /// It is somebody else's and stays as it is.
    Kept,
}

impl Status {
    /// Returns the word for it.
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

/// One thing of ours in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The hook's event, or what else it is.
    pub(crate) name: String,
    /// What becomes of it.
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

/// What a file is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// JSON with hooks.
    Settings,
    /// Codex's config.toml.
    Trust,
    /// A command's prompt; the whole file is ours.
    Prompt,
}

/// A file as it is and as it is to be.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Whose file it is.
    pub(crate) agent: Agent,
    /// What it is to us.
    pub(crate) kind: Kind,
    /// Its name, links not followed.
    pub(crate) path: PathBuf,
    /// What it holds; none where it is not there.
    pub(crate) before: Option<Vec<u8>>,
    /// What it is to hold; none where it is to go.
    pub(crate) after: Option<Vec<u8>>,
    /// What it held without us, for uninstalling.
    pub(crate) without_us: Option<Vec<u8>>,
    /// What becomes of each entry of ours.
    pub(crate) entries: Vec<Entry>,
}

impl Change {
    /// Returns whether anything is to be written.
    pub(crate) fn is_needed(&self) -> bool {
        self.before != self.after
    }

    /// Returns what the file holds as text; empty if it does not exist.
    pub(crate) fn text_before(&self) -> String {
        files::text(self.before.as_deref())
    }
}

/// What is to be done for one agent.
#[derive(Clone, Debug)]
pub(crate) struct AgentPlan {
    /// The agent.
    pub(crate) agent: Agent,
    /// The folder of its settings.
    pub(crate) folder: PathBuf,
    /// Its version, where it is known.
    pub(crate) version: Option<Version>,
    /// The files.
    pub(crate) changes: Vec<Change>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Where to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// For all projects of the user.
    User,
    /// For the project in this folder.
    Project(PathBuf),
}

/// Identifies bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
