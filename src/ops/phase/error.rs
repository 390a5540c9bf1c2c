//! Why a request about phase records was refused.

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseError {
    /// The request is malformed.
    Request,
    /// The record does not exist.
    Unknown,
    /// The files cannot be used.
    Files,
    Journal,
}

/// Why a request was refused: the kind, and a sentence.
pub(crate) type Refusal = (PhaseError, String);
pub(crate) type Result<T> = std::result::Result<T, Refusal>;

pub(super) fn journal_error(error: journal::Error) -> Refusal {
    let text = format!("the journal cannot be used: {error}");
    (PhaseError::Journal, text)
}
