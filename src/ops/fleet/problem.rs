//! Why a run is not taken in.

/// Why a run is not taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// It is not right: a sentence.
    #[error("{0}")]
    Refused(String),
    /// The collector's journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

/// A result whose error is a [`Problem`].
pub(crate) type Result<T> = std::result::Result<T, Problem>;

pub(super) fn refuse(text: impl Into<String>) -> Problem {
    Problem::Refused(text.into())
}
