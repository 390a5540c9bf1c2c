//! The actors of the daemon: everything between the journal and the pure core that runs, waits or has side effects.
//!
//! ```text
//! hook call -> Ingest -> journal -> SessionRegistry -> Session -> HookReply -> answer of the hook call
//!                ^                   (replays sessions      \
//! spool ---------'                    that died)             `-> TmuxDelivery -> the agent's terminal
//! ```
//!
//! The rule everywhere: append, then apply, then act. A replay only applies.

pub mod beginning;
pub mod bounded_io;
mod dedup;
mod desktop;
mod digests;
pub mod draft;
pub mod environment;
pub mod evidence;
pub mod examine;
mod failed_commands;
pub mod git;
pub mod hook_headers;
pub mod hook_reply;
pub mod ingest;
pub mod listener;
pub mod lost;
pub mod named_file;
mod others;
pub mod phase;
mod process;
pub mod programs;
pub mod progress;
pub mod project;
pub mod recovery;
pub mod registry;
pub mod restart;
mod rust_tests;
mod seen;
pub mod session;
pub mod session_state;
pub mod shared;
pub mod spool;
mod spooled;
mod subject;
#[cfg(test)]
mod tests;
pub mod tmux;
pub mod transcripts;
pub mod trust;
mod whose;
mod work_tree;
pub mod work_tree_choice;
pub mod workspace;

pub use shared::Shared;
