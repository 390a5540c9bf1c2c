//! `sessions`: every session with its status.

use std::path::{Path, PathBuf};
use std::time::Duration;

use checkpoint::state::SessionStatus;
use clap::Args;
use journal::{Agent, Home, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::connection;
use crate::cli::shared::{AgentNames, Output, one_of};
use crate::cli::text::{on_machine, print_json, session, short};
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Query, Sessions};
use crate::ops::views::SessionRow;
use crate::render::{self, Column, Table};

/// List sessions, those that wait for you first
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd sessions\n  checkpointd sessions --state waiting --state needs_you\n  \
    checkpointd sessions --project . parser\n  checkpointd sessions --json | jq 'select(.running)'"
)]
pub(crate) struct SessionsArgs {
    /// Only with this text in the title, branch, pane, project, agent or id
    pub(crate) text: Option<String>,
    /// Only in this state; may be repeated
    #[arg(long, value_name = "STATE", value_parser = one_of(SessionStatus::ALL, SessionStatus::word))]
    pub(crate) state: Vec<SessionStatus>,
    /// Only of this agent
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Option<Agent>,
    /// Only in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Only if active since: 2h, yesterday, last week, 2026-11-20
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// At most this many besides those that wait or run (default: 30; all with --json)
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) limit: Option<usize>,
    /// Include sessions in which no agent worked
    #[arg(long)]
    pub(crate) all: bool,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Sessions that are shown unless told otherwise.
const SHOWN: usize = 30;

/// Pause between two looks of `tail -f` and `timeline --follow`.
pub(super) const FOLLOW_EVERY: Duration = Duration::from_millis(200);

/// Asks and prints each line as JSON, or hands all of them to `show`.
pub(super) fn answer<T: DeserializeOwned>(
    home: &Home,
    query: &Query,
    output: Output,
    show: impl FnOnce(&[T]),
) -> Result<u8> {
    if query.is_list() && connection::health(home).is_none() && !connection::is_journal_there(home)?
    {
        // Before anything has happened, a list is empty.
        if !output.json {
            show(&[]);
        }
    } else if output.json {
        connection::ask_json(home, query, |line| print_json(&line))?;
    } else {
        show(&connection::ask_all(home, query)?);
    }
    Ok(exit::OK)
}

pub(crate) fn run(home: &Home, args: SessionsArgs) -> Result<u8> {
    let since = args.since.as_deref().map(when::read_now).transpose();
    let wanted = Sessions {
        status: args.state,
        agent: args.agent,
        project: args.project.as_deref().map(folder).transpose()?,
        since: since.map_err(Failure::usage)?.map(|since| since.begin),
        text: args.text,
        machine: args.machine,
        limit: args.limit,
        all: args.all,
        open: false,
    };
    let is_filtered = wanted.is_filtered();
    let query = Query::Sessions(wanted);
    answer(home, &query, args.output, |rows: &[SessionRow]| {
        let urgent = rows.iter().filter(|row| row.status.is_urgent()).count();
        let shown = if args.all || args.limit.is_some() {
            rows.len()
        } else {
            rows.len().min(SHOWN.max(urgent))
        };
        if rows.is_empty() && is_filtered {
            println!("No session matches.");
        } else if rows.is_empty() {
            let step = connection::first_step(home);
            println!("There are no sessions yet. {step}.");
        } else {
            session_table(&rows[..shown]).print();
        }
        if shown < rows.len() {
            let more = rows.len() - shown;
            println!("and {more} more: `checkpointd sessions --all`");
        }
    })
}

fn session_table(rows: &[SessionRow]) -> Table {
    let now = Timestamp::now();
    let machine = |row: &SessionRow| row.source.as_ref().map(|source| source.machine.clone());
    let columns: [Column<'_, SessionRow>; 11] = [
        ("SESSION", &|row| short(row.session)),
        ("OPEN", &|row| session::open(&row.open)),
        ("AGENT", &|row| row.agent.to_string()),
        ("TURN", &|row| row.turn.to_string()),
        ("STATE", &session::status),
        ("FLAGS", &session::flags),
        ("LAST", &|row| render::ago(now.millis_since(row.last_at))),
        ("CHECKPOINTS", &|row| {
            format!("{} of {}", row.injected, row.injected + row.passed)
        }),
        ("BRANCH, PANE", &|row| row.title.place()),
        ("PROJECT", &|row| {
            on_machine(machine(row).as_deref(), &row.project)
        }),
        ("TITLE", &|row| row.title.words(&row.project)),
    ];
    Table::of(rows, &columns)
        .optional(&[7, 5, 3, 8, 9, 6])
        .colored(session::color_of_status)
}

/// Returns a folder that a person named, in the form of the journal.
///
/// # Errors
///
/// When it is not a path.
pub(super) fn folder(given: &Path) -> Result<String> {
    // A repository, as a collector's sessions are clones of it.
    if let Some(name) = given.to_str().filter(|_| !given.exists())
        && checkpoint::project::remote(&format!("https://{name}")).as_deref() == Some(name)
        && name.contains('.')
    {
        return Ok(name.to_owned());
    }
    let whole = given
        .canonicalize()
        .or_else(|_| std::path::absolute(given))
        .map_err(|error| {
            Failure::usage(format!("`{}` is not a folder: {error}", given.display()))
        })?;
    Ok(whole.to_string_lossy().into_owned())
}

/// A line that is printed as it came, and also read.
pub(super) struct Raw<T> {
    pub(super) json: Value,
    pub(super) read: T,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Raw<T> {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        let read = T::deserialize(&json).map_err(serde::de::Error::custom)?;
        Ok(Self { json, read })
    }
}
