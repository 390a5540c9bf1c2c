//! The arguments of `sql`.

use clap::Args;

use crate::cli::shared::Output;

/// Query events, decisions, tools, turns and sessions in SQL
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd journal sql \"select tool, count(*), sum(is_error) from tools group by tool\"\n  \
    checkpointd journal sql --csv \"select session, turn, duration_ms from turns order by duration_ms desc limit 10\"\n  \
    checkpointd journal sql --schema"
)]
pub(crate) struct SqlArgs {
    /// One SELECT, in the dialect of SQLite
    #[arg(required_unless_present = "schema")]
    pub(crate) query: Option<String>,
    /// Show the tables and their columns
    #[arg(long, conflicts_with = "query")]
    pub(crate) schema: bool,
    /// Only rows of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}
