//! `explain`: one decision with its inputs, on one screen.

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::Home;

use crate::cli::commands::sessions::Raw;
use crate::cli::mine::{self, Asks, LAST};
use crate::cli::shared::Output;
use crate::cli::text::explanation::{explanation, summary};
use crate::cli::{complete, connection};
use crate::error::{Result, exit};
use crate::ops::query::Query;
use crate::ops::views::Explanation;

/// Explain a decision and what it was based on
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd explain\n  checkpointd explain 3f0a\n  checkpointd explain 421 -v"
)]
pub(crate) struct ExplainArgs {
    /// Number of the decision or its stop, or a session, whose last checkpoint is meant (default: that of this pane or project;
    /// where none was sent, the last stop)
    #[arg(value_name = "NUMBER|SESSION", default_value = "last", hide_default_value = true, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) decision: String,
    /// The same for a session whose id looks like a number
    #[arg(long, conflicts_with = "decision", add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Of this machine, in a collector's journal: the number is that of its own journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// All that it was based on: the session, git, calls, rules, exits, times and the message
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(home: &Home, args: ExplainArgs) -> Result<u8> {
    let ExplainArgs {
        decision,
        session,
        machine,
        verbose,
        output,
    } = args;
    let (seq, session) = match (decision.parse().ok(), session) {
        (Some(seq), _) => (Some(seq), None),
        (None, None) if decision != LAST => (None, Some(decision)),
        (None, None) if machine.is_none() => (mine::decision(home, true, Asks::of(output))?, None),
        (None, session) => (None, session),
    };
    let query = Query::Explain {
        seq,
        session,
        machine,
    };
    let answer: Raw<Explanation> = connection::ask_one(home, &query)?;
    output.print(&answer.json, |_| {
        let mut page = summary(&answer.read);
        if verbose {
            page.extend(explanation(&answer.read));
        } else {
            page.push("`-v` shows all that it was based on".to_owned());
        }
        page.iter().for_each(|line| println!("{line}"));
    });
    Ok(exit::OK)
}
