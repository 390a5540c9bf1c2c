//! Why a request about phase records or progress documents was refused.

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The request is malformed.
    Request,
    /// There is no such session, record or document.
    NotFound,
    /// The files cannot be used.
    Files,
    /// The journal cannot be used.
    Journal,
}

/// Why a request was refused: the kind, and a sentence.
pub(crate) type Refusal = (Refused, String);

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

pub(super) fn journal_error(error: journal::Error) -> Refusal {
    let text = format!("the journal cannot be used: {error}");
    (Refused::Journal, text)
}
