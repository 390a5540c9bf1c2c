//! `run`: what its help says. The client runs the command before the command line is parsed.

use std::ffi::OsString;

use clap::Args;

/// Run a command yourself, so that it counts as evidence as an agent's own runs do
#[derive(Args, Debug)]
#[command(
    after_help = "Exits as the command does.\n\nExamples:\n  checkpointd run -- pytest -q\n  checkpointd run -- sh -c 'cd web && npm test'"
)]
pub(crate) struct RunArgs {
    /// The command with its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}
