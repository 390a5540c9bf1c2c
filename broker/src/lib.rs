//! Messages between machines and a collector: a client of NATS JetStream that knows subjects and streams, and nothing of
//! events. A crate of its own, so that its dependencies are built beside the others.

mod authority;
mod collecting;
mod connection;
mod credentials;
mod problem;
mod publishing;
pub mod server_config;
mod subject;

pub use authority::{Authority, Issued};
pub use collecting::{Feed, Received};
pub use connection::Broker;
pub use credentials::Credentials;
pub use problem::Problem;
pub use publishing::{Head, Marks, Stored};
pub use subject::{HEADS, RUNS, Source, is_token};

/// A result whose error is a [`Problem`].
pub type Result<T> = std::result::Result<T, Problem>;
