//! `daemon`: run it, stop it, show its status.

use clap::{Args, Subcommand};
use journal::Home;

use super::status;
use crate::cli::daemon_process;
use crate::cli::shared::Output;
use crate::daemon;
use crate::error::{Result, exit};

/// Run the daemon, stop it, or show its status
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd daemon --detach\n  checkpointd daemon status --json\n  checkpointd daemon stop"
)]
pub(crate) struct DaemonArgs {
    /// Run in the background and return once hooks are accepted
    #[arg(long)]
    pub(crate) detach: bool,
    /// Set by the daemon itself for a detached run.
    #[arg(long, hide = true)]
    pub(crate) background: bool,
    #[command(subcommand)]
    pub(crate) action: Option<DaemonAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonAction {
    /// Stop it
    Stop,
    /// Show whether it runs
    Status {
        #[command(flatten)]
        output: Output,
    },
}

/// Runs the daemon, in this process or detached, stops it or shows its status.
pub(crate) fn run(home: Home, args: DaemonArgs) -> Result<u8> {
    match args.action {
        Some(DaemonAction::Stop) => daemon_process::stop(&home)?,
        Some(DaemonAction::Status { output }) => return status::daemon(&home, output),
        None if args.detach => daemon_process::detach(&home)?,
        None => {
            if args.background {
                daemon_process::leave_terminal();
            }
            daemon::run(home)?;
        }
    }
    Ok(exit::OK)
}
