//! The pure core: the state of sessions, and the decision about each stop.
//!
//! Invariant: nothing in this crate reads a clock, a file or an environment variable, or starts a
//! process. Times and texts are passed in, so that every past decision can be repeated from the
//! journal.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read recordings")
)]

pub mod announce;
pub mod config;
pub mod decide;
pub mod demands;
pub mod effect;
pub mod follow_up;
pub mod gathered;
pub mod generated;
pub mod judging;
pub mod lookback;
pub mod message;
pub mod policy;
pub mod project;
pub mod record;
pub mod replay;
pub mod reply;
pub mod rules;
pub mod state;
#[cfg(test)]
mod tests;
pub mod whose;

pub use agents::{self, hooks, prompts, terminal, tools, transcript};
pub use decide::{Case, decide};
pub use memory::{phase, progress};
pub use policy::Policy;
pub use reading::{built_in, catalogue, comments, digest, manifest, outcome, shell, text};
pub use redact;
pub use state::SessionState;
