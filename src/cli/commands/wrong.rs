//! `wrong`: a person's word that a demand was not warranted.

use checkpoint::demands;
use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::Home;

use super::orders::carry_out;
use crate::cli::mine::{self, Asks};
use crate::cli::shared::Output;
use crate::cli::text::{print_json, short};
use crate::cli::{complete, connection};
use crate::error::{Result, exit};
use crate::ops::orders::{Mark, Order};
use crate::ops::query::Query;
use crate::ops::views::{Explanation, MarkView};
use crate::render;

/// Mark a demand of a checkpoint as not warranted
#[derive(Args, Debug)]
#[command(
    after_help = "`explain` and `stats` show the marks, so you see which rules to change.\n\n\
    Examples:\n  checkpointd wrong\n  checkpointd wrong 421 --item 2 --note 'only a comment changed'\n  checkpointd wrong 421 --undo"
)]
pub(crate) struct WrongArgs {
    /// Number of the decision, or a session, whose last checkpoint is meant (default: that of this pane or project)
    #[arg(value_name = "NUMBER|SESSION", add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) decision: Option<String>,
    /// Only this demand, by its number in `explain` (default: all)
    #[arg(long, value_name = "N")]
    pub(crate) item: Option<u32>,
    /// Why it was not warranted
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) note: String,
    /// Remove an earlier mark
    #[arg(long)]
    pub(crate) undo: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Marks a demand and prints which.
pub(crate) fn run(home: &Home, args: WrongArgs) -> Result<u8> {
    let (seq, session) = match args.decision {
        None => (mine::decision(home, false, Asks::Person)?, None),
        Some(named) => match named.parse() {
            Ok(seq) => (Some(seq), None),
            Err(_) => (None, Some(named)),
        },
    };
    let query = Query::Explain {
        seq,
        session,
        machine: None,
    };
    let explained: Explanation = connection::ask_one(home, &query)?;
    let row = explained.decision;
    let is_marked = |mark: &MarkView| args.item.is_none() || mark.item == args.item;
    if args.undo && !args.output.json && !explained.marked_wrong.iter().any(is_marked) {
        println!("decision {}: nothing was marked wrong", row.seq);
        return Ok(exit::OK);
    }
    let order = Order::Wrong(Mark {
        decision: row.seq,
        item: args.item,
        note: args.note,
        wrong: !args.undo,
    });
    let answer = carry_out(home, row.session.to_string(), &order)?;
    if args.output.json {
        print_json(&answer);
        return Ok(exit::OK);
    }
    let which = args
        .item
        .map_or_else(|| "all demands".to_owned(), |item| format!("demand {item}"));
    let done = if args.undo {
        "no longer marked wrong"
    } else {
        "marked wrong"
    };
    println!(
        "decision {} of {} session {}: {which} {done}",
        row.seq,
        row.agent,
        short(row.session)
    );
    for demand in demands::of_parts(&row.actions, &row.observations)
        .iter()
        .filter(|demand| args.item.is_none_or(|item| item == demand.item))
    {
        let text = render::printable(demand.text);
        render::print_wrapped(&format!("  {} ", demand.item), &text);
    }
    Ok(exit::OK)
}
