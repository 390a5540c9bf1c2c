//! Tool calls in the terms that all agents share: what a call does, how it ended, and how much of it is kept.
//!
//! An agent's own names and framings are in its file, as [`Tools`]. A tool that is not known (MCP servers, newer
//! versions) is guessed at only if its name says what it does and its input has the field for it.

mod describe;
pub(crate) mod labeled;
mod outcome;
mod patch;
mod search;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub use describe::bound;
pub use outcome::Outcome;
pub use table::{Frame, Reported, ResultText, Tools};

pub(crate) use outcome::{begins_with, code_in, flag, plain, printed_in};
