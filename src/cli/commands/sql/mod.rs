//! `sql`: questions in SQL. The tables are made in memory for each question, from the same answers that every other read
//! command gets, and only those that the question names are filled. Nothing in it can write or reach outside.

#[cfg(feature = "sqlite")]
mod query;
mod tables;

use clap::Args;
use journal::Home;

use crate::cli::shared::Output;
use crate::error::{Result, exit};

#[cfg(feature = "sqlite")]
use query::answer;
pub(super) use tables::columns_of;

/// Query events, decisions, tools, turns and sessions in SQL
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd sql \"select tool, count(*), sum(is_error) from tools group by tool\"\n  \
    checkpointd sql --csv \"select session, turn, duration_ms from turns order by duration_ms desc limit 10\"\n  \
    checkpointd sql --schema"
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

pub(crate) fn run(home: &Home, arguments: &SqlArgs) -> Result<u8> {
    match &arguments.query {
        None => tables::show(arguments.output.json, arguments.csv).map(|()| exit::OK),
        Some(query) => answer(home, query, arguments),
    }
}

#[cfg(not(feature = "sqlite"))]
fn answer(_: &Home, _: &str, _: &SqlArgs) -> Result<u8> {
    Err(crate::error::Failure::not_built(
        "`checkpointd sql`",
        "sqlite",
    ))
}
