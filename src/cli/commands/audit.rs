//! `audit`: past decisions as a table or as CSV.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Agent, Home, Reason, Verdict};

use super::sessions::{answer, folder};
use crate::cli::commands::sql;
use crate::cli::csv::Sheet;
use crate::cli::shared::{AgentNames, Output, reason, verdict};
use crate::cli::text::decisions;
use crate::cli::time as when;
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query};
use crate::ops::views::DecisionRow;
use crate::render;

/// List past decisions
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd audit --verdict sent --since 2h\n  checkpointd audit --session last --json\n  \
    checkpointd audit --project . --since monday --until yesterday --csv\n\n\
    `checkpointd stats` has totals."
)]
pub(crate) struct AuditArgs {
    /// Which decisions.
    #[command(flatten)]
    pub(crate) filter: AuditFilter,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Which decisions.
#[derive(Args, Debug, Default)]
pub(crate) struct AuditFilter {
    /// Of this session: id, prefix of one, or `last`
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Of this agent
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Option<Agent>,
    /// With this verdict
    #[arg(long, value_parser = verdict())]
    pub(crate) verdict: Option<Verdict>,
    /// With this reason, by its name in JSON
    #[arg(long, value_parser = reason())]
    pub(crate) reason: Option<Reason>,
    /// Of sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Since this time: 2h, yesterday, monday, 14:30, 2026-11-20, RFC 3339
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Until this time, in the same forms; a date includes the whole day
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// With this text in the message, an action or an observation
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// At most this many, the newest
    #[arg(long)]
    pub(crate) limit: Option<u64>,
    /// Print CSV with a header line
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// Lists past decisions.
pub(crate) fn run(home: &Home, args: AuditArgs) -> Result<u8> {
    let AuditArgs { filter, output } = args;
    let time = |text: &Option<String>| {
        text.as_deref()
            .map(when::read_now)
            .transpose()
            .map_err(Failure::usage)
    };
    let wanted = Audit {
        session: filter.session,
        agent: filter.agent,
        project: filter.project.as_deref().map(folder).transpose()?,
        verdict: filter.verdict,
        reason: filter.reason,
        since: time(&filter.since)?.map(|since| since.begin),
        until: time(&filter.until)?.map(|until| until.end),
        text: filter.text,
        machine: filter.machine,
        before: None,
        limit: filter.limit,
    };
    if filter.csv {
        return csv(home, &Query::Audit(wanted));
    }
    answer(
        home,
        &Query::Audit(wanted),
        output,
        |rows: &[DecisionRow]| {
            if rows.is_empty() {
                println!("No decisions.{}", missing(filter.project.as_deref()))
            } else {
                decisions::table(rows).print()
            }
        },
    )
}

/// Says that a project does not exist, which may be why there are no results.
fn missing(project: Option<&Path>) -> String {
    match project {
        Some(project) if !project.exists() => {
            format!(" There is no folder {}.", render::path(project))
        }
        _ => String::new(),
    }
}

/// Prints decisions as CSV, with the columns that `sql` has for them.
fn csv(home: &Home, query: &Query) -> Result<u8> {
    let columns: Vec<_> = sql::columns_of("decisions").collect();
    let mut sheet = Sheet::new(std::io::stdout().lock(), columns.iter().copied())?;
    let mut written = Ok(());
    connection::ask_json(home, query, |line| {
        if written.is_ok() {
            written = sheet.row(columns.iter().map(|column| &line[*column]));
        }
    })?;
    written.and_then(|()| sheet.finish()).map(|()| exit::OK)
}
