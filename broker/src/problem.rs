//! Why the broker did not do what was asked.

use serde::{Deserialize, Serialize};

/// Why the broker did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Problem {
    /// It may work later: no answer, no leader, no connection.
    #[error("{0}")]
    Later(String),
    /// The subject's last message is another one than was expected.
    #[error("the subject has another last message")]
    Moved,
    /// There is no more space.
    #[error("the stream is full: {0}")]
    Full(String),
    /// There is no such stream or consumer.
    #[error("{0}")]
    Missing(String),
    /// A retry fails until the configuration changes.
    #[error("{0}")]
    Refused(String),
}
