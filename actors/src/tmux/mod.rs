//! Agents' terminals: reading an agent's tmux pane, and typing into it.
//!
//! Only `pane.rs` runs tmux, and only `processes.rs` lists the processes in a pane. Both block, up to the given time, and
//! belong on blocking threads. `delivery.rs` is the actor that types checkpoints.

mod delivery;
mod pane;
mod processes;
mod server;
mod terminal;

pub use delivery::{Deliver, TmuxDelivery};
pub(crate) use pane::{Pane, PaneSnapshot, Tmux, TmuxError};
pub(crate) use processes::{Process, agent_among, processes};

/// The longest wait for tmux when a person waits for it.
const SHOWN_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);

/// Has tmux show the pane that these values of `TMUX` and `TMUX_PANE` name. Returns whether a terminal is attached that
/// shows it.
///
/// # Errors
///
/// A sentence that says why it is not shown.
pub fn show_pane(tmux: Option<&str>, pane: Option<&str>) -> Result<bool, String> {
    let pane = Pane::of_env(tmux, pane).ok_or("the session is in no tmux pane")?;
    let tmux = Tmux {
        pane: &pane,
        within: SHOWN_WITHIN,
    };
    tmux.show().map_err(|error| error.to_string())
}

/// Puts a text into the newest paste buffer of the tmux server that these values of `TMUX` and `TMUX_PANE` name, and into
/// the clipboard of its terminal.
///
/// # Errors
///
/// A sentence that says why it was not put there.
pub fn copy(tmux: Option<&str>, pane: Option<&str>, text: &str) -> Result<(), String> {
    let pane = Pane::of_env(tmux, pane).ok_or("this is no tmux pane")?;
    let tmux = Tmux {
        pane: &pane,
        within: SHOWN_WITHIN,
    };
    tmux.copy(text).map_err(|error| error.to_string())
}
