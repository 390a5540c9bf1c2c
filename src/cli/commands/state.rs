//! `state`: the state of a session at a point of its history, and the changes between two points.

use checkpoint::state::AGENT_FINISHED;
use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Home, ToolCall};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::sessions::answer;
use crate::cli::mine::{self, Asks};
use crate::cli::shared::Output;
use crate::cli::text::spaced;
use crate::cli::time as when;
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::ops::views::{Changed, StateView};
use crate::render::{self, Color};

/// Show the state of a session, now or in the past, or what changed in between
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd journal state --at '2 hours ago'\n  checkpointd journal state --at 421\n  checkpointd journal state --diff yesterday now"
)]
pub(crate) struct StateArgs {
    /// Session: id or prefix of one (default: this pane's or project's)
    #[arg(default_value = "last", hide_default_value = true, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: String,
    /// Among the sessions of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// After this event (sequence number) or at this time (2h ago, yesterday, 14:30, 2026-11-20, RFC 3339)
    #[arg(long, value_name = "SEQ|TIME")]
    pub(crate) at: Option<String>,
    /// Show only what changed from one point to another
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "at")]
    pub(crate) diff: Option<Vec<String>>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

type Whose<'a> = (&'a str, Option<&'a str>);

/// Returns the question for a session now, or at a point: an event's number, or a time, of a day its end.
fn at_point((session, machine): Whose<'_>, point: Option<&str>) -> Result<Query> {
    let seq = point.and_then(|point| point.parse().ok());
    let time = point.filter(|_| seq.is_none()).map(when::read_now);
    let time = time.transpose().map_err(|problem| {
        Failure::usage(problem)
            .hint("or give the sequence number of an event; `checkpointd timeline` shows them")
    })?;
    Ok(Query::State {
        session: session.to_owned(),
        seq,
        time: time.map(|time| time.end),
        machine: machine.map(str::to_owned),
    })
}

/// Shows a session's state, or what changed between two points.
pub(crate) fn run(home: &Home, args: StateArgs) -> Result<u8> {
    let session = match args.machine {
        Some(_) => args.session,
        None => mine::session(home, args.session, Asks::of(args.output))?,
    };
    let whose = (session.as_str(), args.machine.as_deref());
    match args.diff.as_deref() {
        Some([a, b]) => diff(home, whose, a, b, args.output),
        _ => show(home, whose, args.at.as_deref(), args.output),
    }
}

/// Shows the state of a session.
fn show(home: &Home, whose: Whose<'_>, at: Option<&str>, output: Output) -> Result<u8> {
    let query = at_point(whose, at)?;
    answer(home, &query, output, |states: &[Map<String, Value>]| {
        if states.iter().all(|state| state["at"].is_null()) {
            println!("The session had not begun then.");
            return;
        }
        for (key, value) in states.iter().flatten() {
            let line = match (key.as_str(), value) {
                ("calls", Value::Array(calls)) => {
                    format!("{:22} {}", "calls this turn", calls.len())
                }
                (key, value) => format!("{:22} {}", spaced(key), shown(value)),
            };
            println!("{}", render::fit(&line, render::width()));
        }
    })
}

/// Shows what changed in a session between two points.
fn diff(home: &Home, whose: Whose<'_>, a: &str, b: &str, output: Output) -> Result<u8> {
    let was: StateView = connection::ask_one(home, &at_point(whose, Some(a))?)?;
    let now: StateView = connection::ask_one(home, &at_point(whose, Some(b))?)?;
    let changes = was.differences(&now);
    let point = |state: &StateView| json!({ "seq": state.seq, "at": state.at });
    let diff = json!({ "from": point(&was), "to": point(&now), "changes": changes });
    output.print(&diff, |_| {
        println!("from {} to {}", words(&was), words(&now));
        if changes.is_empty() {
            println!("nothing changed");
        }
        show_changes(&changes);
    });
    Ok(exit::OK)
}

/// Names a point of a session's history.
fn words(state: &StateView) -> String {
    match state.at {
        Some(at) => format!("event {} ({})", state.seq, render::local_time(at)),
        None => "before it began".to_owned(),
    }
}

/// Prints what changed, a field a line.
fn show_changes(changes: &[Changed]) {
    for change in changes {
        let arrow = |was: &str, now: &str| {
            format!(
                "{} -> {}",
                render::paint(Color::Dim, was),
                render::paint(Color::Green, now)
            )
        };
        let what = match (change.field.as_str(), &change.was, &change.now) {
            ("calls", Value::Array(gone), Value::Array(new)) => calls(gone, new),
            (_, was, now) => arrow(&shown(was), &shown(now)),
        };
        println!(
            "{}",
            render::fit(
                &format!("  {:22} {what}", spaced(&change.field)),
                render::width()
            )
        );
    }
}

/// Says which tool calls came, ended and went.
fn calls(gone: &[Value], new: &[Value]) -> String {
    let read = |calls: &[Value]| -> Vec<ToolCall> {
        let calls = calls.iter().map(ToolCall::deserialize);
        calls.filter_map(std::result::Result::ok).collect()
    };
    let gone = read(gone);
    let new = read(new);
    let name = |call: &ToolCall| {
        let about = call.command.as_ref().or(call.paths.first());
        let about = about.map(String::as_str).unwrap_or_default();
        render::printable(format!("{} {about}", call.tool).trim_end())
    };
    let same = |a: &ToolCall, b: &ToolCall| a.id == b.id && name(a) == name(b);
    let mut said: Vec<_> = new
        .iter()
        .map(|call| {
            let known = gone.iter().any(|was| same(was, call));
            let mark = if known { "ended: " } else { "+ " };
            format!("{}{}", render::paint(Color::Green, mark), name(call))
        })
        .collect();
    let forgotten = gone
        .iter()
        .filter(|was| !new.iter().any(|call| same(was, call)))
        .count();
    if forgotten > 0 {
        said.push(render::paint(
            Color::Dim,
            &format!("{forgotten} of an earlier turn"),
        ));
    }
    said.join(", ")
}

/// Returns a value as a person would read it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) if text.is_empty() => "-".into(),
        Value::String(text) if text == AGENT_FINISHED => spaced(text),
        Value::String(text) => match text.parse() {
            Ok(at) => render::local_time(at),
            Err(_) => render::printable(text),
        },
        other => render::printable(&other.to_string()),
    }
}
