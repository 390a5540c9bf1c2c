//! `lookback`: totals of the agents' own transcripts, by the rules in force now.

use std::path::PathBuf;

use actors::trust::Trust;
use clap::Args;
use journal::{Agent, Home};
use serde_json::Value;

use super::sessions::folder;
use crate::cli::connection;
use crate::cli::csv::Sheet;
use crate::cli::shared::{AgentNames, Output};
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::text::{lookback as show, print_json};
use crate::cli::time as when;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::ops::lookback::{self, Rules, Scope};
use crate::ops::query::{Audit, Query};
use crate::ops::views::{PastTurnRow, Summary};
use crate::render;

/// Read the agents' own transcripts and show what was left open
#[derive(Args, Debug)]
#[command(
    after_help = "Reads the transcripts of all known agents, and decides each turn by the rules in force now.\n\
    Needs no daemon and keeps nothing, unless --import says so.\n\n\
    Examples:\n  checkpointd lookback\n  checkpointd lookback --since 90d --project . --limit 20\n  \
    checkpointd lookback --csv > turns.csv\n  checkpointd lookback --import"
)]
pub(crate) struct LookbackArgs {
    /// Turns that began since: 30d, monday, 2026-11-20, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// Only of this agent
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Option<Agent>,
    /// Only of sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Show all counts, and this many of the turns most worth reading; otherwise the worst three in a few lines
    #[arg(long)]
    pub(crate) limit: Option<usize>,
    /// Print all turns as CSV with a header line
    #[arg(long, conflicts_with_all = ["json", "import"])]
    pub(crate) csv: bool,
    /// Journal the turns as imported sessions; `journal forget --imported` removes them
    #[arg(long)]
    pub(crate) import: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// How many turns are shown in full by default.
const LIMIT: usize = 10;

pub(crate) fn run(home: &Home, args: &LookbackArgs) -> Result<u8> {
    let config = settings::load(home)?;
    let since = when::read_now(&args.since).map_err(Failure::usage)?;
    let wanted = Scope {
        since: since.begin,
        agent: args.agent,
        project: args.project.as_deref().map(folder).transpose()?,
        limit: args.limit.unwrap_or(LIMIT),
        within: None,
    };
    let rules = Rules {
        config: &config,
        trust: &Trust::of(home),
    };
    if args.import {
        return import(home, rules, &wanted, args.output);
    }
    // git gets private folders there. Where nothing was before, nothing stays.
    let missing = home.run.ancestors().take_while(|folder| !folder.exists());
    let missing: Vec<_> = missing.collect();
    let (summary, rows) = lookback::look_back(rules, &wanted, &mut progress("reading"));
    progress_done();
    if !missing.is_empty() {
        actors::git::clear_private_folders(home);
        missing
            .iter()
            .for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    if let Some(project) = args.project.as_deref().filter(|it| !it.exists())
        && rows.is_empty()
    {
        let project = render::path(project);
        return Err(Failure::usage(format!(
            "there is no folder {project}, and no transcript names it"
        )));
    }
    if args.csv {
        return csv(&rows);
    }
    if args.output.json {
        print_json(&summary);
    } else if args.limit.is_some() {
        show::show(&summary);
    } else {
        show::in_short(&summary);
    }
    if !args.output.json
        && let Some(caught) = caught(home, &wanted)
    {
        render::print_wrapped("caught: ", &caught);
    }
    Ok(exit::OK)
}

/// Says what checkpoints caught in the same time, if there is a journal.
fn caught(home: &Home, wanted: &Scope) -> Option<String> {
    let filter = Audit {
        since: Some(wanted.since),
        agent: wanted.agent,
        project: wanted.project.clone(),
        ..Audit::default()
    };
    let is_there = home.journal.join("intake").is_dir();
    let asked = is_there.then(|| connection::ask_one(home, &Query::Summary(filter)))?;
    let summary: Summary = asked.ok()?;
    summary.benefit.sentence()
}

fn import(home: &Home, rules: Rules<'_>, wanted: &Scope, output: Output) -> Result<u8> {
    let journal = connection::own_journal(home)?.ok_or_else(connection::daemon_runs)?;
    let imported = lookback::import(rules, wanted, &journal, &mut progress("importing"));
    progress_done();
    journal.close();
    let imported = imported?;
    output.print(&imported, show::imported);
    Ok(exit::OK)
}

/// Prints all turns as CSV.
fn csv(rows: &[PastTurnRow]) -> Result<u8> {
    const COLUMNS: [&str; 18] = [
        "at",
        "agent",
        "project",
        "session",
        "prompt",
        "length_ms",
        "interrupted",
        "changed_files",
        "code_changed",
        "nothing_run",
        "tests_failed",
        "error_left",
        "claimed",
        "verdict",
        "reason",
        "asked",
        "rules",
        "transcript",
    ];
    let mut sheet = Sheet::new(std::io::stdout().lock(), COLUMNS)?;
    for row in rows {
        let row: Value = serde_json::to_value(row).map_err(Failure::failed)?;
        sheet.row(COLUMNS.iter().map(|column| &row[*column]))?;
    }
    sheet.finish().map(|()| exit::OK)
}

/// The longest that `init` waits for a look back.
const INIT_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);

/// Returns the totals of the last 30 days in one line, if there are transcripts and reading them is quick.
pub(super) fn in_one_line(home: &Home) -> Option<String> {
    let config = settings::load(home).ok()?;
    let wanted = Scope {
        since: when::read_now("30d").ok()?.begin,
        agent: None,
        project: None,
        limit: 0,
        within: Some(INIT_WITHIN),
    };
    let rules = Rules {
        config: &config,
        trust: &Trust::of(home),
    };
    let (summary, _) = lookback::look_back(rules, &wanted, &mut |_, _| ());
    let total = summary.total;
    (summary.complete && total.turns > 0).then(|| {
        format!(
            "In the last 30 days {} of {} ended with code changed and nothing run after it: `checkpointd lookback`",
            total.nothing_run,
            render::count(total.turns, "turn", "turns")
        )
    })
}
