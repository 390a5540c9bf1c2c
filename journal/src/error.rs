//! Errors of the journal. Every message is a fragment that fits after "failed to use the journal:".

use std::io;
use std::path::{Path, PathBuf};

/// Why an operation on the journal failed.
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
        /// The operation, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The kind of failure, for callers that react to a full disk.
        kind: io::ErrorKind,
        /// The system's message.
        text: String,
    },
    /// A call to the store failed.
    #[error("the store cannot {doing}: {text}")]
    Store {
        /// The operation, as a verb.
        doing: &'static str,
        /// The kind of failure, for telling a full disk from damage.
        kind: io::ErrorKind,
        /// The store's message.
        text: String,
    },
    /// The bytes were written by a newer version of this program.
    #[error("{what} has format {found}, this program reads up to {known}: upgrade checkpointd")]
    Newer {
        /// The file or value that was read.
        what: String,
        /// The format of the bytes.
        found: u32,
        /// The newest format that this program reads.
        known: u32,
    },
    /// The bytes were written by no version of this program.
    #[error("{what} is damaged: {problem}")]
    Damaged {
        /// The file or value that was read.
        what: String,
        /// What is wrong with the text.
        problem: String,
    },
    /// A restore would replace an existing journal.
    #[error("{} already has a journal", path.display())]
    Occupied {
        /// The journal's folder.
        path: PathBuf,
    },
    /// Something else than a merge would write into a collector's journal.
    #[error("{} has the events of other machines: nothing else is written there", path.display())]
    Collector {
        /// The journal's folder.
        path: PathBuf,
    },
    /// The committer's queue is full: try again later, or spool the call.
    #[error("the journal's queue is full: try again later")]
    Overloaded,
    /// The journal was closed, or its threads have ended.
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

    /// Returns whether the system refused an operation that may succeed later, which does not mean damaged files.
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

    /// Returns that an event is missing in the store, or in the whole journal.
    pub(crate) fn missing(what: &str, seq: u64) -> Self {
        Self::damaged(what, format!("event {seq} is missing"))
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

/// Adds the operation and the path to the error of a system call.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| Error::disk(doing, path, &error))
    }
}
