//! `daemon`: run it, stop it, ask how it is.

use clap::{Args, Subcommand};
use journal::Home;

use super::status;
use crate::cli::daemon_process;
use crate::cli::shared::Output;
use crate::daemon;
use crate::error::{Result, exit};

/// Run the daemon, or stop it, or ask how it is
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd daemon --detach\n  checkpointd daemon status --json\n  checkpointd daemon stop"
)]
pub(crate) struct DaemonArgs {
    /// Go into the background and return once hooks are taken
    #[arg(long)]
    pub(crate) detach: bool,
    /// The daemon's own mark of a detached run.
    #[arg(long, hide = true)]
    pub(crate) background: bool,
    /// What to do instead of running.
    #[command(subcommand)]
    pub(crate) action: Option<DaemonAction>,
}

/// What to do with the daemon.
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonAction {
    /// Stop it
    Stop,
    /// Say whether it runs
    Status {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
}

/// Runs the daemon, in this process or detached, or passes an order on to it.
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
