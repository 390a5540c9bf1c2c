//! `daemon`: run it, stop it, restart it, show its status.

use clap::{Args, Subcommand};
use journal::Home;

use super::{service, status};
use crate::cli::shared::Output;
use crate::cli::{connection, daemon_process};
use crate::daemon;
use crate::error::{Result, exit};
use crate::service::manager::Manager;

/// Run the daemon, stop or restart it, or show its status
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd daemon --detach\n  checkpointd daemon status --json\n  checkpointd daemon restart"
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
    /// Replace the daemon with one of the installed version; no hook call is lost
    Restart,
    /// Show whether it runs
    Status {
        #[command(flatten)]
        output: Output,
    },
    Service(service::ServiceArgs),
}

/// Runs the daemon, in this process or detached, stops it or shows its status.
pub(crate) fn run(home: Home, args: DaemonArgs) -> Result<u8> {
    match args.action {
        Some(DaemonAction::Stop) => daemon_process::stop(&home)?,
        Some(DaemonAction::Restart) => return restart(&home),
        Some(DaemonAction::Status { output }) => return status::daemon(&home, output),
        Some(DaemonAction::Service(args)) => return service::run(&home, args),
        None if args.detach => daemon_process::detach(&home)?,
        None => {
            if args.background {
                daemon_process::leave_terminal();
            }
            daemon::run(home, false)?;
        }
    }
    Ok(exit::OK)
}

/// A service's daemon is restarted by its manager, which keeps the socket open meanwhile.
fn restart(home: &Home) -> Result<u8> {
    let running = connection::health(home);
    if running.is_some_and(|running| Manager::of_platform().runs(running.pid)) {
        return service::restart(home);
    }
    daemon_process::restart(home)?;
    Ok(exit::OK)
}
