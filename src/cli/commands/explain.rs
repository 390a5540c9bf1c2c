//! `explain`: one decision with its inputs, on one screen.

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::Home;
use serde_json::Value;

use crate::cli::shared::Output;
use crate::cli::text::explanation::explanation;
use crate::cli::text::print_json;
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;

/// Explain a decision and what it was based on
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd explain\n  checkpointd explain 421 --json\n  checkpointd explain --session 3f0a"
)]
pub(crate) struct ExplainArgs {
    /// Sequence number of the decision or its stop, or `last`: the last checkpoint, or the last stop if none was sent
    #[arg(default_value = "last")]
    pub(crate) decision: String,
    /// `last` of this session
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Of this machine, in a collector's journal: the number is that of its own journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(home: &Home, args: ExplainArgs) -> Result<u8> {
    let ExplainArgs {
        decision,
        session,
        machine,
        output,
    } = args;
    let seq = match decision.as_str() {
        "last" => None,
        number => Some(number.parse().map_err(|_| {
            Failure::usage(format!(
                "`{number}` is neither a sequence number nor `last`"
            ))
            .hint("`checkpointd audit` lists decisions with their numbers")
        })?),
    };
    let query = Query::Explain {
        seq,
        session,
        machine,
    };
    if output.json {
        let answer: Value = connection::ask_one(home, &query, |_, _| ())?;
        print_json(&answer);
    } else {
        let answer = connection::ask_one(home, &query, |_, _| ())?;
        explanation(&answer)
            .iter()
            .for_each(|line| println!("{line}"));
    }
    Ok(exit::OK)
}
