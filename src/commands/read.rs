//! The commands that read: sessions, state, timeline, audit, explain, tail.

use std::time::Duration;

use journal::{Home, Reason, Timestamp};
use serde_json::Value;

use crate::cli::{AuditFilter, Output};
use crate::commands::status;
use crate::failure::{Failure, Result, exit};
use crate::query::{Audit, Query};
use crate::render::{self, Colour, Table};
use crate::source;

mod explain;
mod lines;

pub(super) use explain::explain;

/// Pause between two looks of `tail -f`.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Asks and prints each line as JSON, or hands all of them to `show`.
fn answer(home: &Home, query: &Query, output: Output, show: impl FnOnce(Vec<Value>)) -> Result<u8> {
    let mut lines = Vec::new();
    source::ask(home, query, |line| if output.json { println!("{line}") } else { lines.push(line) })?;
    if !output.json {
        show(lines);
    }
    Ok(exit::OK)
}

/// Lists sessions.
pub(super) fn sessions(home: &Home, output: Output) -> Result<u8> {
    answer(home, &Query::Sessions, output, |lines| {
        let mut table = Table::new(["SESSION", "AGENT", "TURN", "STATE", "LAST", "CHECKPOINTS", "PROJECT"]);
        let now = Timestamp::now();
        for line in &lines {
            let last = text(&line["last_at"]).parse().unwrap_or(now);
            table.row([
                text(&line["session"]).chars().take(8).collect(),
                text(&line["agent"]).into(),
                line["turn"].to_string(),
                standing(line),
                format!("{} ago", render::duration_ms(now.millis_since(last) / 1_000 * 1_000)),
                format!(
                    "{} of {}",
                    line["injected"],
                    line["injected"].as_u64().unwrap_or(0) + line["passed"].as_u64().unwrap_or(0)
                ),
                text(&line["project"]).into(),
            ]);
        }
        if table.is_empty() { println!("There are no sessions yet.") } else { table.print() }
    })
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
    if line["muted"] == true { word + ", muted" } else { word }
}

/// Shows what is known of a session.
pub(super) fn state(home: &Home, session: String, at: Option<&str>, output: Output) -> Result<u8> {
    let (mut seq, mut time) = (None, None);
    if let Some(at) = at {
        seq = at.parse().ok();
        time = if seq.is_none() { Some(point_in_time(at)?) } else { None };
    }
    answer(home, &Query::State { session, seq, time }, output, |lines| {
        for (key, value) in lines.first().and_then(Value::as_object).into_iter().flatten() {
            match (key.as_str(), value) {
                ("calls", Value::Array(calls)) => println!("{:22} {}", "calls this turn", calls.len()),
                (_, Value::Null) => println!("{key:22} -"),
                (key, Value::String(value)) if key.ends_with("_at") || key == "at" => {
                    println!("{key:22} {}", render::local_time(value));
                }
                (_, Value::String(value)) => println!("{key:22} {}", render::printable(value)),
                (_, other) => println!("{key:22} {}", render::printable(&other.to_string())),
            }
        }
    })
}

/// Reads a point in time: RFC 3339, or a duration before now.
fn point_in_time(given: &str) -> Result<Timestamp> {
    if let Ok(time) = given.parse() {
        return Ok(time);
    }
    checkpoint::config::parse_duration(given).map(|ago| Timestamp::now().minus(ago)).map_err(|_| {
        Failure::usage(format!("`{given}` is neither a time nor a duration"))
            .hint("write a time like 2026-11-21T20:00:00Z, or a duration like 2h")
    })
}

/// Shows what happened in a session, in order.
pub(super) fn timeline(home: &Home, session: String, turn: Option<u64>, output: Output) -> Result<u8> {
    let query = Query::Events { from: 1, last: None, session: Some(session), kind: None, payloads: false };
    let mut current = 0;
    source::ask(home, &query, |line| {
        let begins = line["kind"] == "prompt_submitted" && line["origin"] == "user";
        current += u64::from(begins);
        if turn.is_some_and(|turn| turn != current) {
            return;
        }
        if output.json {
            println!("{line}");
            return;
        }
        if begins {
            println!("{}", render::paint(Colour::Bold, &format!("turn {current}")));
        }
        if let Some(shown) = lines::in_timeline(&line) {
            println!("  {shown}");
        }
    })?;
    Ok(exit::OK)
}

/// Lists past decisions.
pub(super) fn audit(home: &Home, filter: AuditFilter, output: Output) -> Result<u8> {
    let reason = filter.reason.map(|word| reason_of(&word)).transpose()?;
    let since = filter.since.as_deref().map(point_in_time).transpose()?;
    let query = Query::Audit(Audit {
        session: filter.session,
        agent: filter.agent.map(Into::into),
        verdict: filter.verdict.map(Into::into),
        reason,
        since,
        limit: filter.limit,
    });
    answer(home, &query, output, |lines| {
        if lines.is_empty() {
            println!("No decisions.");
        } else {
            status::decision_table(&lines).print();
        }
    })
}

fn reason_of(word: &str) -> Result<Reason> {
    Reason::ALL.into_iter().find(|reason| reason.word() == word).ok_or_else(|| {
        let words: Vec<_> = Reason::ALL.iter().map(|reason| reason.word()).collect();
        Failure::usage(format!("there is no reason `{word}`")).hint(format!("reasons are {}", words.join(", ")))
    })
}

/// Shows the newest events, and waits for more.
pub(super) fn tail(
    home: &Home,
    follow: bool,
    lines: u64,
    session: Option<String>,
    kind: Option<String>,
    output: Output,
) -> Result<u8> {
    let (mut from, mut last) = (1, Some(lines));
    loop {
        let query = Query::Events { from, last, session: session.clone(), kind: kind.clone(), payloads: false };
        let asked = source::ask(home, &query, |line| {
            from = line["seq"].as_u64().unwrap_or(0) + 1;
            if output.json { println!("{line}") } else { println!("{}", lines::in_tail(&line)) }
        });
        match asked {
            // A daemon that is away for a moment is no reason to stop looking.
            Err(_) if follow && last.is_none() => {}
            other => other?,
        }
        if !follow {
            return Ok(exit::OK);
        }
        last = None;
        std::thread::sleep(FOLLOW_EVERY);
    }
}
