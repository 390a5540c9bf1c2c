//! Why a run is refused.

/// Why a run is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// The input is wrong; a sentence says why.
    #[error("{0}")]
    Refused(String),
    /// These events, the first and the last, must come before.
    #[error("events {0} to {1} are missing")]
    Missing(u64, u64),
    /// The collector's journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

pub(crate) type Result<T> = std::result::Result<T, Problem>;

pub(super) fn refuse(text: impl Into<String>) -> Problem {
    Problem::Refused(text.into())
}
