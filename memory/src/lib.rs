//! What outlives a session: the phase records of work items, and the progress documents from which another session goes on.
//!
//! Pure, like the core: events and texts are passed in.

pub mod phase;
pub mod progress;
