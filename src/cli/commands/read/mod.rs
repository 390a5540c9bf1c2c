//! The commands that read: sessions, state, timeline, audit, explain, tail.

use std::path::Path;
use std::time::Duration;

use journal::{Home, Timestamp};
use serde_json::Value;

use crate::cli::args::Output;
use crate::cli::connection;
use crate::cli::text::{event_line, session};
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Events, Query};
use crate::render::{self, Table};

mod audit;
mod explain;
mod state;
mod timeline;

pub(super) use audit::audit;
pub(super) use explain::explain;

pub(super) use state::{show_changes, state, state_diff};
pub(super) use timeline::timeline;

/// Pause between two looks of `tail -f` and `timeline --follow`.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Asks and prints each line as JSON, or hands all of them to `show`.
fn answer(home: &Home, query: &Query, output: Output, show: impl FnOnce(Vec<Value>)) -> Result<u8> {
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
pub(super) fn sessions(home: &Home, output: Output) -> Result<u8> {
    answer(home, &Query::Sessions, output, |lines| {
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

/// Shows the newest events, and waits for more.
pub(super) fn tail(home: &Home, mut wanted: Events, follow: bool, output: Output) -> Result<u8> {
    let mut shown = false;
    loop {
        let query = Query::Events(wanted.clone());
        let asked = connection::ask(home, &query, |line| {
            shown = true;
            wanted.from = line["seq"].as_u64().unwrap_or(0) + 1;
            if output.json {
                println!("{line}")
            } else {
                println!("{}", event_line::in_tail(&line))
            }
        });
        match asked {
            // A daemon that is away for a moment is no reason to stop looking.
            Err(_) if follow && wanted.last.is_none() => {}
            other => other?,
        }
        if !follow {
            if !shown && !output.json {
                println!("No events.");
            }
            return Ok(exit::OK);
        }
        wanted.last = None;
        std::thread::sleep(FOLLOW_EVERY);
    }
}
