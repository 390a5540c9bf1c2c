//! `stats`: what checkpoints did for you, how often they were right, and what they cost.

use std::path::PathBuf;

use checkpoint::effect::{Difference, Effect};
use clap::Args;
use journal::{Agent, Home, Reason};

use super::sessions::folder;
use crate::cli::connection;
use crate::cli::shared::{AgentNames, Output};
use crate::cli::text::{on_machine, spaced};
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query};
use crate::ops::views::{RuleTotals, Summary, Totals};
use crate::render::{self, Column, Table};

/// Show what checkpoints did for you, how often each rule was right, and what they cost
#[derive(Args, Debug)]
#[command(
    after_help = "Figures come from the journal's events only; imported sessions do not count: nothing was sent to them.\n\n\
    Examples:\n  checkpointd stats\n  checkpointd stats --since 7d --project . --json"
)]
pub(crate) struct StatsArgs {
    /// Decisions since: 30d, monday, 2026-11-20, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// Decisions until then, in the same forms; a date includes the whole day
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only of this agent
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Option<Agent>,
    /// Only of sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// Compare turns with a checkpoint with those that `experiment` held back
    #[arg(long)]
    pub(crate) effect: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The most mistakes that are listed, and the most of a command of one.
const MISTAKES_SHOWN: usize = 5;
const COMMAND_CHARS_MAX: usize = 40;

pub(crate) fn run(home: &Home, args: &StatsArgs) -> Result<u8> {
    let since = when::read_now(&args.since).map_err(Failure::usage)?.begin;
    let until = args.until.as_deref().map(when::read_now).transpose();
    let filter = Audit {
        agent: args.agent,
        project: args.project.as_deref().map(folder).transpose()?,
        machine: args.machine.clone(),
        since: Some(since),
        until: until.map_err(Failure::usage)?.map(|until| until.end),
        ..Audit::default()
    };
    if args.effect {
        return effect(home, filter, args.output);
    }
    let summary: Summary = connection::ask_one(home, &Query::Summary(filter))?;
    args.output.print(&summary, |_| {
        benefit(&summary, &render::local_time(since));
        rules(&summary.rules);
        groups(&summary);
        let_through(&summary.total);
    });
    Ok(exit::OK)
}

fn effect(home: &Home, filter: Audit, output: Output) -> Result<u8> {
    let effect: Effect = connection::ask_one(home, &Query::Effect(filter))?;
    output.print(&effect, show_effect);
    Ok(exit::OK)
}

fn show_effect(effect: &Effect) {
    let (sent, held) = (effect.sent, effect.held);
    if sent + held == 0 {
        println!(
            "No turn was part of an experiment: `checkpointd config set experiment.holdout 20`"
        );
        return;
    }
    println!("{sent} turns with a checkpoint, {held} held back\n");
    let points = |share: f64| format!("{:+.1}", share * 100.0);
    let columns: [Column<'_, Difference>; 6] = [
        ("OUTCOME", &|one| spaced(&one.outcome)),
        ("WITH", &|one| format!("{} of {sent}", one.sent)),
        ("WITHOUT", &|one| format!("{} of {held}", one.held)),
        ("DIFFERENCE", &|one| points(one.difference)),
        ("95 % INTERVAL", &|one| {
            one.interval.map(points).join(" to ")
        }),
        ("STILL NEEDED", &|one| one.needed.to_string()),
    ];
    Table::of(&effect.outcomes, &columns).print();
    let [with, without] = effect.median_ms.map(render::duration_ms);
    println!(
        "\nMedian time from the decision to the end of the turn: {with} with, {without} without."
    );
    let [with, without] = effect.median_calls;
    println!("Median tool calls in it: {with} with, {without} without.");
    if effect.outcomes.iter().any(|one| one.needed > 0) {
        println!("While turns are still needed in each arm, the figures say nothing yet.");
    }
}

fn benefit(summary: &Summary, since: &str) {
    let benefit = &summary.benefit;
    if benefit.sent == 0 {
        let stops = render::count(benefit.stops, "stop was", "stops were");
        println!("No checkpoint was sent since {since}; {stops} let through.");
        return;
    }
    println!("Since {since}\n");
    let line = |count: u64, what: &str| println!("{count:>7}  {what}");
    let noun = |count: u64, one, many| if count == 1 { one } else { many };
    let sent = noun(benefit.sent, "checkpoint", "checkpoints");
    let stops = render::count(benefit.stops, "stop", "stops");
    line(benefit.sent, &format!("{sent}, at {stops}"));
    line(benefit.lost, "of them did not arrive, as far as known");
    let actions = render::count(benefit.actions, "action", "actions");
    line(
        benefit.demands,
        &format!("asked for something and have ended ({actions} in total)"),
    );
    line(
        benefit.met,
        "of these were done in full before you wrote again",
    );
    let turns = summary.total.turns;
    let marked = match benefit.wrong {
        0 => "were marked wrong by you".to_owned(),
        wrong => {
            let hundred = wrong as f64 * 100.0 / turns.max(1) as f64;
            format!("marked wrong by you: {hundred:.1} in 100 turns")
        }
    };
    line(benefit.wrong, &marked);
    if benefit.withheld > 0 {
        line(benefit.withheld, "more are withheld by their machines");
    }
    println!();
    let checks = noun(benefit.checks, "check", "checks");
    line(
        benefit.checks,
        &format!("{checks} run because a checkpoint asked"),
    );
    line(
        benefit.caught,
        "of them failed at first: caught before you had to",
    );
    for mistake in benefit.mistakes.iter().take(MISTAKES_SHOWN) {
        let at = render::local_time(mistake.at);
        let command = render::cut(&render::printable(&mistake.command), COMMAND_CHARS_MAX);
        println!("         {at}  `{command}`, `explain {}`", mistake.decision);
    }
    println!();
    let each = render::duration_ms(benefit.ms / benefit.sent.max(1));
    println!(
        "{:>7}  of the agents' time went into checkpoints, {each} each",
        render::duration_ms(benefit.ms)
    );
    let rounds = noun(benefit.rounds, "answer", "answers");
    line(benefit.rounds, &format!("{rounds} of the model, at most"));
}

/// Prints how often each rule made a demand, and the outcomes.
fn rules(rules: &[RuleTotals]) {
    if rules.is_empty() {
        return;
    }
    println!();
    let columns: [Column<'_, RuleTotals>; 4] = [
        ("ASKED", &|rule| rule.demanded.to_string()),
        ("DONE", &|rule| {
            render::or_dash(rule.met, |met| met.to_string())
        }),
        ("MARKED WRONG", &|rule| rule.wrong.to_string()),
        ("RULE", &|rule| rule.rule.clone()),
    ];
    Table::of(rules, &columns).print();
}

/// Prints the totals of each agent in each project.
fn groups(summary: &Summary) {
    if summary.groups.is_empty() {
        return;
    }
    println!();
    let all = (summary.groups.len() > 1).then_some(("all", String::new(), &summary.total));
    let groups = summary.groups.iter().map(|group| {
        let project = on_machine(group.machine.as_deref(), &group.project);
        (group.agent.word(), project, &group.totals)
    });
    let rows: Vec<_> = groups.chain(all).collect();
    let columns: [Column<'_, (&str, String, &Totals)>; 7] = [
        ("AGENT", &|(agent, ..)| (*agent).to_owned()),
        ("STOPS", &|(.., it)| it.decisions.to_string()),
        ("SENT", &|(.., it)| it.injected.to_string()),
        ("NOT ARRIVED", &|(.., it)| {
            (it.failed + it.expired).to_string()
        }),
        ("DONE", &|(.., it)| format!("{} of {}", it.met, it.demands)),
        ("MEDIAN TURN", &|(.., it)| {
            render::or_dash(it.median_turn_ms, render::duration_ms)
        }),
        ("PROJECT", &|(_, project, _)| project.clone()),
    ];
    Table::of(&rows, &columns).optional(&[3, 5]).print();
}

/// Prints why stops were let through.
fn let_through(total: &Totals) {
    let reasons = Reason::ALL.into_iter().filter_map(|reason| {
        let count = total.passed_by_reason.get(reason.word())?;
        Some(format!("{count} {}", reason.words()))
    });
    let reasons: Vec<_> = reasons.collect();
    if !reasons.is_empty() {
        println!();
        render::print_wrapped("let through: ", &reasons.join("; "));
    }
}
