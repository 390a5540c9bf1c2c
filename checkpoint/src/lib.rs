//! The pure core: the state of sessions, and the decision about each stop.
//!
//! Invariant: nothing in this crate reads a clock, a file or an environment variable, or starts a
//! process. Times and texts are passed in, so that every past decision can be repeated from the
//! journal.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read recordings")
)]

pub mod agents;
pub mod announce;
pub mod catalogue;
pub mod comments;
pub mod config;
pub mod decide;
pub mod demands;
pub mod digest;
pub mod follow_up;
pub mod gathered;
pub mod generated;
pub mod hooks;
pub mod judging;
mod layered;
pub mod lookback;
pub mod manifest;
pub mod message;
pub mod outcome;
pub mod phase;
pub mod policy;
pub mod progress;
pub mod project;
pub mod prompts;
pub mod redact;
pub mod replay;
pub mod reply;
pub mod rules;
pub mod shell;
pub mod state;
pub mod suggest;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tools;
pub mod transcript;
pub mod whose;

pub use decide::{Case, decide};
pub use policy::Policy;
pub use state::SessionState;
