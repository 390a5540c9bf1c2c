//! The agents: what each does in its own way, and what they share.
//!
//! `rooms/` has a file for each agent, as an [`adapter::Adapter`], and `known/*.yml` its plain lists. Hook calls become events in `hooks/`, tool calls are
//! told in common terms by `tools/`, transcripts are read by `transcript/`, and screens by `terminal/`.
//!
//! Pure, like the core: payloads, transcripts and screens are passed in. Nothing in here knows a rule or a setting.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read recordings")
)]

pub mod adapter;
pub mod hooks;
pub mod known;
pub mod prompts;
mod rooms;
pub mod terminal;
pub mod tools;
pub mod transcript;

pub use rooms::{ALL, adapter, authors, program, session_variables};
