//! The environment that the daemon keeps (spec ENV-2).

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use actors::environment;
use checkpoint::config::Config;

use crate::error::{Failure, Result};

/// Replaces this process by one with the same id and arguments that has just the variables of a daemon. Does nothing in
/// that process.
///
/// Removing variables is not enough: what a process was started with can be read as long as it lives
/// (`/proc/PID/environ`).
pub(super) fn reduce(config: &Config) -> Result<()> {
    let Some(kept) = environment::reduced(&config.settings.listeners.env) else {
        return Ok(());
    };
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1));
    // Returns only if it fails.
    let error = again.env_clear().envs(kept).exec();
    Err(Failure::failed(format!(
        "cannot start again with a reduced environment: {error}"
    )))
}
