//! What should happen: what we know of a session, and what a stop deserves. All of it is pure.
//!
//! Invariant: nothing in this crate reads a clock, a file, an environment variable, or starts a process. Times and texts
//! are passed in, so that every past decision can be made again from the journal.

pub mod config;
pub mod digest;
pub mod findings;
pub mod message;
pub mod policy;
pub mod prompts;
pub mod rules;
pub mod shell;
mod text;
pub mod tools;
pub mod transcript;

pub use policy::Policy;
