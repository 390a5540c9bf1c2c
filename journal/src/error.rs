//! What can go wrong on disk. Every text is a fragment that fits after "failed to use the journal:".

use std::io;
use std::path::{Path, PathBuf};

/// Why the journal could not do what was asked.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Another process has the journal open.
    #[error("{} is in use by another process", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {doing} {}: {text}", path.display())]
    Disk {
        /// The verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The kind of failure, for callers that react to a full disk.
        kind: io::ErrorKind,
        /// The system's words.
        text: String,
    },
    /// The store refused.
    #[error("the store cannot {doing}: {text}")]
    Store {
        /// The verb.
        doing: &'static str,
        /// The kind of failure, which tells a full disk from damage.
        kind: io::ErrorKind,
        /// The store's words.
        text: String,
    },
    /// Bytes written by a newer version of this program.
    #[error("{what} has format {found}, this program reads up to {known}: upgrade checkpointd")]
    Newer {
        /// What was read.
        what: String,
        /// Its format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },
    /// Bytes that no version of this program wrote.
    #[error("{what} is damaged: {problem}")]
    Damaged {
        /// What was read.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is a journal where one was to be put.
    #[error("there is a journal in {} already", path.display())]
    Occupied {
        /// Its folder.
        path: PathBuf,
    },
    /// The queue to the writer is full: try again later, or spool.
    #[error("the writer's queue is full")]
    Overloaded,
    /// The journal was closed, or its writer is gone.
    #[error("the journal is closed")]
    Closed,
}

impl Error {
    pub(crate) fn disk(doing: &'static str, path: &Path, source: &io::Error) -> Self {
        Self::Disk {
            doing,
            path: path.to_owned(),
            kind: source.kind(),
            text: source.to_string(),
        }
    }

    /// Returns whether the system refused what may work again later: that says nothing about the files.
    pub(crate) fn is_refusal(&self) -> bool {
        use io::ErrorKind::{
            OutOfMemory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        let (Self::Disk { kind, .. } | Self::Store { kind, .. }) = self else {
            return false;
        };
        matches!(
            kind,
            OutOfMemory | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull
        )
    }

    pub(crate) fn damaged(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            problem: problem.into(),
        }
    }
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Names the file and the verb of a failed system call.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| Error::disk(doing, path, &error))
    }
}
