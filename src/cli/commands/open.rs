//! `open`: what agents have left undone.

use std::path::{Path, PathBuf};

use checkpoint::record::{Found, Switch};
use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Home, Timestamp};

use super::record;
use super::sessions::{answer, folder};
use crate::cli::repository::Git;
use crate::cli::shared::Output;
use crate::cli::text::{on_machine, print_json, session, short};
use crate::cli::time as when;
use crate::cli::{complete, connection, mine};
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Query, Sessions};
use crate::ops::views::{OpenView, SessionRow};
use crate::render::{self, Table};

/// Show what agents left open: changed code that nothing verified since
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd open\n  checkpointd open --project . --json\n  checkpointd open last\n  checkpointd open --range main..HEAD\n\n\
    Exits with 1 if something is open, with 0 if nothing is."
)]
pub(crate) struct OpenArgs {
    /// Each changed file of this session: id, prefix of one, or `last` for this pane's or project's
    #[arg(add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Each file that these commits changed, by its content, whatever session verified it
    #[arg(long, value_name = "BASE..HEAD", conflicts_with_all = ["session", "project", "machine", "since"])]
    pub(crate) range: Option<String>,
    /// Each file of this work tree that is not committed, likewise
    #[arg(long, conflicts_with_all = ["range", "session", "project", "machine", "since"])]
    pub(crate) worktree: bool,
    /// Only in this folder or below it
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) project: Option<PathBuf>,
    /// Only sessions active since: 2h, yesterday, 2026-11-20
    #[arg(
        long,
        value_name = "TIME",
        default_value = "7d",
        conflicts_with = "session"
    )]
    pub(crate) since: String,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(home: &Home, args: OpenArgs) -> Result<u8> {
    if args.worktree || args.range.is_some() {
        return of_contents(home, &args);
    }
    match args.session.clone() {
        Some(session) => of_session(home, session, args),
        None => of_all(home, args),
    }
}

fn of_contents(home: &Home, args: &OpenArgs) -> Result<u8> {
    let git = Git::of(Path::new("."))?;
    let looked = if args.worktree {
        git.work_tree()?
    } else {
        let (base, end) = git.ends(args.range.as_deref())?;
        git.range(base.as_deref(), &end)?
    };
    let found: Found = connection::ask_one(home, &Query::Range(looked.question()))?;
    let totals = found.totals();
    args.output.print(&found, |_| {
        record::table(&found.units, &found.runs);
        record::switched_off(&found.switches);
        println!("{}", record::sentence(&totals));
    });
    let is_off = found.switches.iter().any(Switch::is_by_agent);
    Ok(exit::of(totals.open == 0 && !is_off))
}

fn of_all(home: &Home, args: OpenArgs) -> Result<u8> {
    let query = Query::Sessions(Sessions {
        project: args.project.as_deref().map(folder).transpose()?,
        since: Some(when::read_now(&args.since).map_err(Failure::usage)?.begin),
        machine: args.machine,
        open: true,
        ..Sessions::default()
    });
    let mut rows = Vec::new();
    answer(home, &query, Output::default(), |found: &[SessionRow]| {
        rows = found.to_vec();
    })?;
    if args.output.json {
        rows.iter().for_each(print_json);
    } else if rows.is_empty() {
        println!("Nothing is open.");
    } else {
        table(&rows).print();
        println!("`checkpointd open SESSION` shows each file.");
    }
    Ok(exit::of(rows.is_empty()))
}

fn table(rows: &[SessionRow]) -> Table {
    let head = ["SESSION", "OPEN", "AGENT", "LAST", "PROJECT", "TITLE"];
    let mut table = Table::new(head).optional(&[2]);
    let now = Timestamp::now();
    for row in rows {
        table.row([
            short(row.session),
            session::open(&row.open),
            row.agent.to_string(),
            render::ago(now.millis_since(row.last_at)),
            on_machine(
                row.source.as_ref().map(|source| source.machine.as_str()),
                &row.project,
            ),
            row.title.words(&row.project),
        ]);
    }
    table
}

fn of_session(home: &Home, session: String, args: OpenArgs) -> Result<u8> {
    let session = match args.machine {
        Some(_) => session,
        None => mine::session(home, session, mine::Asks::of(args.output))?,
    };
    let query = Query::Open {
        session,
        machine: args.machine,
    };
    let view: OpenView = connection::ask_one(home, &query)?;
    args.output.print(&view, show);
    let is_off = view.switches.iter().any(Switch::is_by_agent);
    Ok(exit::of(view.open.is_empty() && !is_off))
}

fn show(view: &OpenView) {
    record::switched_off(&view.switches);
    let Some(decision) = view.decision else {
        println!("No stop of this session was judged yet, so nothing is known to be open.");
        return;
    };
    if view.open.is_empty() {
        println!("Nothing is open.");
    }
    for item in &view.open {
        render::print_wrapped("open: ", &render::printable(&item.line()));
    }
    for answer in &view.answers {
        let (color, word) = record::answer(answer.verified);
        let label = format!("  {} ", render::paint(color, &format!("{word:7}")));
        let said = format!("{}: {}", answer.file, answer.why);
        render::print_wrapped(&label, &render::printable(&said));
    }
    println!("`checkpointd explain {decision}` shows the stop.");
}
