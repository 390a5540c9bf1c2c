//! Who does it, and when: the actors around the journal and the pure core.
//!
//! ```text
//! hook call -> Ingest -> journal -> SessionRegistry -> Session -> HookReply -> hook call's answer
//!                                                                  \-> TmuxDelivery -> the agent's terminal
//! spool ----^                          ^ restarts a session that died, from the journal
//! ```
//!
//! The rule everywhere: append, then apply, then act. Replay only applies.

pub mod draft;
pub mod evidence;
pub mod git;
pub mod hook_reply;
pub mod ingest;
pub mod listener;
pub mod phase;
mod process;
pub mod progress;
pub mod recovery;
pub mod registry;
pub mod restart;
pub mod routes;
pub mod session;
pub mod session_state;
pub mod shared;
pub mod spool;
#[cfg(test)]
mod tests;
pub mod tmux;
pub mod transcripts;

pub use shared::Shared;
