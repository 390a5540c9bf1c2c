//! `sql`: questions in SQL. The tables are made in memory for each question, from the same answers that every other read
//! command gets, and only those that the question names are filled. Nothing in it can write or reach outside.

mod arguments;
#[cfg(feature = "sqlite")]
mod query;
mod tables;

use journal::Home;

use crate::error::{Result, exit};

pub(crate) use arguments::SqlArgs;
#[cfg(feature = "sqlite")]
use query::answer;
pub(super) use tables::columns_of;

pub(crate) fn run(home: &Home, arguments: &SqlArgs) -> Result<u8> {
    match &arguments.query {
        None => tables::show(arguments.output.json, arguments.csv).map(|()| exit::OK),
        Some(query) => answer(home, query, arguments),
    }
}

#[cfg(not(feature = "sqlite"))]
fn answer(_: &Home, _: &str, _: &SqlArgs) -> Result<u8> {
    Err(crate::error::Failure::not_built(
        "`checkpointd journal sql`",
        "sqlite",
    ))
}
