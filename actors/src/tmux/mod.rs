//! Agents' terminals: reading an agent's tmux pane, and typing into it.
//!
//! Only `pane.rs` runs tmux, and only `processes.rs` lists the processes in a pane. Both block, up to the given time, and
//! belong on blocking threads. `delivery.rs` is the actor that types checkpoints.

mod delivery;
mod pane;
mod processes;
mod queue;
mod server;
mod terminal;

pub use delivery::{Deliver, TmuxDelivery};
pub(crate) use pane::{Pane, PaneSnapshot, Tmux, TmuxError};
pub(crate) use processes::{Process, agent_among, processes};
