//! The arguments of what puts checkpointd in place and takes it away: `init`, `uninstall`, `doctor`, `service`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AgentName, Output};

/// What to install, and where.
#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// Only this agent, found or not; may be given several times
    #[arg(long)]
    pub(crate) agent: Vec<AgentName>,
    /// Write the project's settings instead of yours
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
    /// Show what would change, and write nothing anywhere
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to take out.
#[derive(Args, Debug)]
pub(crate) struct UninstallArgs {
    /// Only this agent's hooks, with daemon and data kept; may be given several times
    #[arg(long)]
    pub(crate) agent: Vec<AgentName>,
    /// Keep journal, configuration and logs
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show what would change, and write nothing anywhere
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to check.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without asking
    #[arg(long, conflicts_with = "fire")]
    pub(crate) fix: bool,
    /// Send a test event through this agent's installed hook, and look for it in the journal
    #[arg(long, value_name = "AGENT")]
    pub(crate) fire: Option<AgentName>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to do with the service.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Write the service's files and start it
    Install {
        /// Only show what would be written
        #[arg(long)]
        print: bool,
    },
    /// Stop it and remove its files
    Uninstall,
    /// Start it
    Start,
    /// Stop it
    Stop,
    /// Stop and start it
    Restart,
    /// Say whether it is installed and active: exit 0 if active, 3 if not
    Status {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show what the daemon said
    Logs {
        /// Wait for more
        #[arg(short, long)]
        follow: bool,
        /// How many lines to begin with
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: u64,
    },
}

/// Whether the page is opened or closed, and where.
#[derive(Args, Debug)]
pub(crate) struct WebArgs {
    /// Open it in your browser
    ///
    /// The address works once, and a command line can be read by every user of the machine. So the browser is given a
    /// file in checkpointd's own folder that only you can read and that leads to the page; it is removed once the browser
    /// has come. Where it does not come within half a minute (a browser from a snap may not read that file), the address
    /// is printed, to be opened by hand.
    #[arg(long, conflicts_with = "stop")]
    pub(crate) open: bool,
    /// Serve it on this port; 0 for any that is free (default: `web.port`)
    #[arg(long, value_name = "N", conflicts_with = "stop")]
    pub(crate) port: Option<u16>,
    /// Close it
    #[arg(long)]
    pub(crate) stop: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}
