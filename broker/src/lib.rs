//! Speaks to a fleet's broker through `checkpointd-fleet`, a program of its own, so that the daemon links no client of
//! the broker and no TLS. Requests go to its stdin and answers come from its stdout, one at a time. It knows subjects and
//! streams, and nothing of events.

mod problem;
mod program;
pub mod server_config;
mod subject;
mod types;
pub mod wire;

pub use problem::Problem;
pub use program::{Broker, check, issue, new_authority};
pub use subject::{HEADS, RUNS, Source, is_token};
pub use types::{Authority, Batch, Credentials, Head, Issued, Look, Marks, Received, Stored};

/// A result whose error is a [`Problem`].
pub type Result<T> = std::result::Result<T, Problem>;
