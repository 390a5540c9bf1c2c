//! `stats`: what checkpoints did for you, and what they cost.

use std::path::PathBuf;

use clap::Args;
use journal::Home;

use super::sessions::folder;
use crate::cli::connection;
use crate::cli::shared::{AgentName, Output};
use crate::cli::text::print_json;
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query};
use crate::ops::views::Benefit;
use crate::render;

/// Show what checkpoints did for you, and what they cost
#[derive(Args, Debug)]
#[command(
    after_help = "Figures come from the journal's events only; imported sessions do not count: nothing was sent to them.\n\n\
    Examples:\n  checkpointd stats\n  checkpointd stats --since 7d --project . --json"
)]
pub(crate) struct StatsArgs {
    /// Decisions since: 30d, monday, 2026-11-20, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// Only of this agent
    #[arg(long)]
    pub(crate) agent: Option<AgentName>,
    /// Only of sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(home: &Home, args: &StatsArgs) -> Result<u8> {
    let since = when::read_now(&args.since).map_err(Failure::usage)?.begin;
    let filter = Audit {
        agent: args.agent.map(Into::into),
        project: args.project.as_deref().map(folder).transpose()?,
        machine: args.machine.clone(),
        since: Some(since),
        ..Audit::default()
    };
    let benefit: Benefit = connection::ask_one(home, &Query::Benefit(filter), |_, _| ())?;
    if args.output.json {
        print_json(&benefit);
    } else {
        show(&benefit, &render::local_time(&since.to_string()));
    }
    Ok(exit::OK)
}

fn show(benefit: &Benefit, since: &str) {
    if benefit.sent == 0 {
        println!(
            "No checkpoint was sent since {since}; {} stops passed.",
            benefit.stops
        );
        return;
    }
    println!("Since {since}\n");
    let line = |count: u64, what: &str| println!("{count:>7}  {what}");
    line(
        benefit.sent,
        &format!("checkpoints, at {} stops", benefit.stops),
    );
    line(benefit.lost, "of them did not arrive, as far as known");
    line(
        benefit.demands,
        &format!(
            "asked for something and have ended ({} actions in total)",
            benefit.actions
        ),
    );
    line(
        benefit.met,
        "of these were done in full before you wrote again",
    );
    line(benefit.wrong, "were marked wrong by you");
    println!();
    let runs = if benefit.tests_run == 1 {
        "run"
    } else {
        "runs"
    };
    line(
        benefit.tests_run,
        &format!("{runs} of tests because of a checkpoint"),
    );
    line(
        benefit.failures_found,
        "of them failed: found before you had to",
    );
    println!();
    let each = render::duration_ms(benefit.ms / benefit.sent.max(1));
    println!(
        "{:>7}  of the agents' time went into checkpoints, {each} each",
        render::duration_ms(benefit.ms)
    );
    line(benefit.rounds, "answers of the model, at most");
}
