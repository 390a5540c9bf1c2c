//! `sessions`: every session with its status.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use journal::{Home, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::{print_json, session, short};
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::ops::views::SessionRow;
use crate::render::{self, Table};

/// List sessions
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd sessions\n  checkpointd sessions --json | jq 'select(.running)'"
)]
pub(crate) struct SessionsArgs {
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Pause between two looks of `tail -f` and `timeline --follow`.
pub(super) const FOLLOW_EVERY: Duration = Duration::from_millis(200);

/// Asks and prints each line as JSON, or hands all of them to `show`.
pub(super) fn answer<T: DeserializeOwned>(
    home: &Home,
    query: &Query,
    output: Output,
    show: impl FnOnce(&[T]),
) -> Result<u8> {
    if output.json {
        connection::ask_json(home, query, |line| print_json(&line))?;
    } else {
        show(&connection::ask_all(home, query)?);
    }
    Ok(exit::OK)
}

/// Lists sessions.
pub(crate) fn run(home: &Home, args: SessionsArgs) -> Result<u8> {
    answer(
        home,
        &Query::Sessions,
        args.output,
        |rows: &[SessionRow]| {
            if rows.is_empty() {
                println!("There are no sessions yet.")
            } else {
                session_table(rows).print()
            }
        },
    )
}

fn session_table(rows: &[SessionRow]) -> Table<9> {
    let head = [
        "SESSION",
        "AGENT",
        "TURN",
        "STATE",
        "FLAGS",
        "AGE",
        "LAST",
        "CHECKPOINTS",
        "PROJECT",
    ];
    let mut table = Table::new(head)
        .optional(&[7, 5, 2, 6])
        .coloured(session::colour_of_status);
    let now = Timestamp::now();
    let ago = |at| render::duration_ms(now.millis_since(at) / 1_000 * 1_000);
    for row in rows {
        table.row([
            short(row.session),
            row.agent.to_string(),
            row.turn.to_string(),
            session::status(row),
            session::flags(row),
            ago(row.first_at),
            format!("{} ago", ago(row.last_at)),
            format!("{} of {}", row.injected, row.injected + row.passed),
            render::path(Path::new(&row.project)),
        ]);
    }
    table
}

/// Returns a folder that a person named in the form in which the journal has it.
///
/// # Errors
///
/// When it is not a path.
pub(super) fn folder(given: &Path) -> Result<String> {
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
