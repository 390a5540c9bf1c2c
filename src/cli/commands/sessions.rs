//! `sessions`: every session, and how it stands.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use journal::{Home, Timestamp};
use serde_json::Value;

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::session;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
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

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Asks and prints each line as JSON, or hands all of them to `show`.
pub(super) fn answer(
    home: &Home,
    query: &Query,
    output: Output,
    show: impl FnOnce(Vec<Value>),
) -> Result<u8> {
    let mut lines = Vec::new();
    connection::ask(home, query, |line| {
        if output.json {
            println!("{line}")
        } else {
            lines.push(line)
        }
    })?;
    if !output.json {
        show(lines);
    }
    Ok(exit::OK)
}

/// Lists sessions.
pub(crate) fn run(home: &Home, args: SessionsArgs) -> Result<u8> {
    answer(home, &Query::Sessions, args.output, |lines| {
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
        let ago = |at: &Value| {
            let at = text(at).parse().unwrap_or(now);
            render::duration_ms(now.millis_since(at) / 1_000 * 1_000)
        };
        for line in &lines {
            table.row([
                text(&line["session"]).chars().take(8).collect(),
                text(&line["agent"]).into(),
                line["turn"].to_string(),
                session::status(line),
                session::flags(line),
                ago(&line["first_at"]),
                format!("{} ago", ago(&line["last_at"])),
                format!(
                    "{} of {}",
                    line["injected"],
                    line["injected"].as_u64().unwrap_or(0) + line["passed"].as_u64().unwrap_or(0)
                ),
                render::path(Path::new(text(&line["project"]))),
            ]);
        }
        if table.is_empty() {
            println!("There are no sessions yet.")
        } else {
            table.print()
        }
    })
}

/// Returns a folder that a person named in the form in which the journal has it.
///
/// # Errors
///
/// When it is no path at all.
pub(super) fn folder(given: &Path) -> Result<String> {
    let whole = given
        .canonicalize()
        .or_else(|_| std::path::absolute(given))
        .map_err(|error| Failure::usage(format!("`{}` is no folder: {error}", given.display())))?;
    Ok(whole.to_string_lossy().into_owned())
}
