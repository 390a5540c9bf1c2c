//! `explain`: one decision with all that it was based on, on one screen.

use journal::Home;

use crate::cli::args::Output;
use crate::cli::connection;
use crate::cli::text::explanation::explanation;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;

/// Explains one decision.
pub(in crate::cli::commands) fn explain(
    home: &Home,
    decision: &str,
    session: Option<String>,
    output: Output,
) -> Result<u8> {
    let seq = match decision {
        "last" => None,
        number => Some(number.parse().map_err(|_| {
            Failure::usage(format!(
                "`{number}` is neither a sequence number nor `last`"
            ))
            .hint("`checkpointd audit` lists decisions with their numbers")
        })?),
    };
    let answer = connection::ask_one(home, &Query::Explain { seq, session }, |_, _| ())?;
    if output.json {
        println!("{answer}")
    } else {
        explanation(&answer)
            .iter()
            .for_each(|line| println!("{line}"));
    }
    Ok(exit::OK)
}
