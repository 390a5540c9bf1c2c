//! Terminals: what stands in an agent's tmux pane, and typing into it.
//!
//! `pane.rs` is the only place that runs tmux, `processes.rs` looks at who runs in the pane. All of it blocks, within the
//! time that it is given, and belongs on blocking threads.

mod pane;
mod processes;

pub use pane::{Look, Pane, Tmux, TmuxError};
pub use processes::{Process, agent_among, processes};
