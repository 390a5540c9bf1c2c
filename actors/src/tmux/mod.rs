//! Terminals: what stands in an agent's tmux pane, and typing into it.
//!
//! `pane.rs` is the only place that runs tmux, `processes.rs` looks at who runs in the pane. Both block, within the time
//! that they are given, and belong on blocking threads. `delivery.rs` is the actor that types checkpoints.

mod delivery;
mod look;
mod pane;
mod processes;
mod queue;

pub use delivery::{Deliver, TmuxDelivery};
pub use pane::{Look, Pane, Tmux, TmuxError};
pub use processes::{Process, agent_among, processes};
