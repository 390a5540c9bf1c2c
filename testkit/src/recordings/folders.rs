//! Where the recorded agents have their files.

use std::path::PathBuf;

use super::list::Recording;

/// The folders of the recorded agents.
pub struct Folders {
    folder: PathBuf,
}

impl Folders {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns what the daemon and the agents have in their environment.
    pub(super) fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [("HOME", self.home()), ("TMPDIR", self.tmp())]
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("user")
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub(super) fn project(&self, recording: &Recording) -> PathBuf {
        self.folder.join(recording.project.name)
    }
}
