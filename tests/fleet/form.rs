//! How long the tests run.

/// Whether the long form is wanted.
pub(crate) fn is_full() -> bool {
    std::env::var("CHECKPOINTD_FLEET").is_ok_and(|form| form == "full")
}
