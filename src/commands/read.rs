//! The commands that read: sessions, state, timeline, audit, explain, tail.

use std::path::Path;
use std::time::Duration;

use journal::{Home, Timestamp};
use serde_json::Value;

use crate::cli::Output;
use crate::failure::{Failure, Result, exit};
use crate::query::{Events, Query};
use crate::render::{self, Colour, Table};
use crate::source;

mod audit;
mod explain;
mod lines;
mod state;
mod timeline;

pub(super) use audit::audit;
pub(super) use explain::explain;
pub(crate) use explain::explanation;
pub(super) use lines::in_tail;
pub(crate) use lines::whole;
pub(super) use state::{show_changes, state, state_diff};
pub(super) use timeline::timeline;
pub(crate) use timeline::{Drawn, Growing};

/// Pause between two looks of `tail -f` and `timeline --follow`.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Asks and prints each line as JSON, or hands all of them to `show`.
fn answer(home: &Home, query: &Query, output: Output, show: impl FnOnce(Vec<Value>)) -> Result<u8> {
    let mut lines = Vec::new();
    source::ask(home, query, |line| {
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
            .coloured(colour_of_state);
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
                standing(line),
                flags(line),
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

fn colour_of_state(cell: &str) -> Option<Colour> {
    match cell {
        "running" => Some(Colour::Green),
        "ended" => Some(Colour::Dim),
        waiting if waiting.starts_with("waiting: ") => Some(Colour::Yellow),
        _ => None,
    }
}

/// Names what else is to be known of a session: what holds for its next stop, and what is on its way.
fn flags(line: &Value) -> String {
    let flags = [
        ("cleared", line["cleared"] == true),
        ("dialog", line["dialog_up"] == true),
        (
            "asked",
            line["blocks_this_turn"]
                .as_u64()
                .is_some_and(|blocks| blocks > 0),
        ),
        ("sending", !line["delivering"].is_null()),
        ("restart", !line["restart"].is_null()),
    ];
    let flags: Vec<_> = flags
        .into_iter()
        .filter(|(_, is)| *is)
        .map(|(word, _)| word)
        .collect();
    if flags.is_empty() {
        "-".into()
    } else {
        flags.join(",")
    }
}

/// Says how a session stands; where it waits for a person, why.
pub(super) fn standing(line: &Value) -> String {
    // A dialog holds up an agent in the midst of its work; what else it was waiting for is past then.
    let running = line["running"] == true && line["dialog_up"] == false;
    let word = match (running, &line["ended"], &line["notification"]) {
        (true, ..) => "running".to_owned(),
        (_, Value::Bool(true), _) => "ended".to_owned(),
        (_, _, Value::String(why)) => format!("waiting: {}", render::printable(why)),
        _ => "idle".to_owned(),
    };
    if line["muted"] == true {
        word + ", muted"
    } else {
        word
    }
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
        let asked = source::ask(home, &query, |line| {
            shown = true;
            wanted.from = line["seq"].as_u64().unwrap_or(0) + 1;
            if output.json {
                println!("{line}")
            } else {
                println!("{}", lines::in_tail(&line))
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
