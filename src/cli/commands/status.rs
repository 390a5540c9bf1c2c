//! `status` and `daemon status`: how things stand.

use std::path::Path;

use clap::Args;
use journal::{Home, Timestamp};
use serde_json::{Value, json};

use crate::cli::shared::Output;
use crate::cli::text::session;
use crate::cli::{connection, doctor};
use crate::error::{Result, exit};
use crate::ops::query::{Audit, Query};
use crate::render::{self, Table};

/// Show at a glance how things stand
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd status\n  checkpointd status --json | jq .warnings"
)]
pub(crate) struct StatusArgs {
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Decisions that are shown.
const DECISIONS: u64 = 5;

/// Sessions that wait for a person, and are shown.
const WAITING: usize = 5;

/// Says whether the daemon runs: exit 0 if it does, 3 if not.
pub(super) fn daemon(home: &Home, output: Output) -> Result<u8> {
    let health = connection::health(home);
    let running = health.is_some();
    let mut answer = json!({ "running": running, "socket": home.socket });
    if let (Value::Object(answer), Some(Value::Object(health))) = (&mut answer, health) {
        answer.extend(health);
    }
    if output.json {
        println!("{answer}");
    } else if running {
        let up = render::duration_ms(answer["uptime_ms"].as_u64().unwrap_or(0));
        println!(
            "running: version {}, pid {}, up {up}",
            text(&answer["version"]),
            answer["pid"]
        );
    } else {
        println!("not running (start it with `checkpointd daemon --detach`)");
    }
    Ok(if running { exit::OK } else { exit::UNREACHABLE })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Shows at a glance how things stand.
pub(crate) fn run(home: &Home, args: StatusArgs) -> Result<u8> {
    let output = args.output;
    let daemon = connection::health(home).and_then(|_| connection::get(home, "/v1/status").ok());
    let spool = actors::spool::list(&home.spool).unwrap_or_default();
    let spool_bytes: u64 = spool
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    if daemon.is_none() && !home.journal.join("intake").is_dir() {
        if output.json {
            println!(
                "{}",
                json!({ "daemon": null, "sessions": 0, "spool": { "calls": spool.len(), "bytes": spool_bytes } })
            );
        } else {
            println!("No daemon runs, and there is no data yet.");
            println!(
                "See checkpointd at work with `checkpointd demo`, or start it with `checkpointd daemon --detach`."
            );
        }
        return Ok(exit::OK);
    }
    let (mut sessions, mut decisions, mut overview) = (Vec::new(), Vec::new(), Value::Null);
    let newest = Query::Audit(Audit {
        limit: Some(DECISIONS),
        ..Audit::default()
    });
    let read = connection::ask(home, &Query::Sessions, |line| sessions.push(line))
        .and_then(|()| connection::ask(home, &newest, |line| decisions.push(line)))
        .and_then(|()| {
            connection::ask_one(home, &Query::Overview, |_, _| ()).map(|answer| overview = answer)
        });
    // A daemon in trouble tells at least what that is.
    let is_told = daemon
        .as_ref()
        .is_some_and(|daemon| !daemon["degraded"].as_array().is_none_or(Vec::is_empty));
    if !is_told {
        read?;
    }
    let rejected = overview["rejected"].as_u64().unwrap_or(0);
    let warnings = warnings(daemon.as_ref(), rejected, spool.len());
    let waits = |session: &&Value| session::status(session).starts_with("waiting");
    let waiting: Vec<_> = sessions.iter().filter(waits).map(waiting).collect();
    let answer = json!({
        "daemon": daemon,
        "sessions": sessions.len(),
        "running": sessions.iter().filter(|session| session["running"] == json!(true)).count(),
        "waiting": waiting.len(),
        "waiting_for_you": waiting,
        "agents": overview["agents"],
        "events": overview["events"],
        "hooks": overview["hooks"],
        "rejected": rejected,
        "store_bytes": overview["store_bytes"],
        "intake_bytes": overview["intake_bytes"],
        "free_bytes": doctor::free_bytes(home).ok(),
        "spool": { "calls": spool.len(), "bytes": spool_bytes },
        "last_decisions": decisions,
        "warnings": warnings,
    });
    if output.json {
        println!("{answer}")
    } else {
        show(&answer)
    }
    Ok(exit::OK)
}

fn waiting(session: &Value) -> Value {
    let fields = ["session", "agent", "project", "notification", "last_at"];
    fields
        .iter()
        .map(|field| ((*field).to_owned(), session[*field].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn warnings(daemon: Option<&Value>, rejected: u64, spooled: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(daemon) = daemon {
        let notes = daemon["recovery"].as_array().into_iter().flatten();
        warnings.extend(notes.map(|note| format!("at the last start: {}", text(note))));
        warnings.extend(
            daemon["degraded"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|line| text(line).to_owned()),
        );
        if let Some(error) = daemon["config_error"].as_str() {
            warnings.push(format!("the configuration is not used: {error}"));
        }
        if let Some(error) = daemon["otlp_error"].as_str() {
            warnings.push(format!(
                "decisions and figures do not reach the collector: {error}"
            ));
        }
        if text(&daemon["version"]) != env!("CARGO_PKG_VERSION") {
            warnings.push(format!(
                "the daemon is version {}, this is {}",
                daemon["version"],
                env!("CARGO_PKG_VERSION")
            ));
        }
    }
    if rejected > 0 {
        warnings.push(format!(
            "{rejected} payloads could not be read: `checkpointd tail --kind payload_rejected`"
        ));
    }
    if spooled > 0 && daemon.is_none() {
        warnings.push(format!(
            "{spooled} hook calls wait in the spool for a daemon"
        ));
    }
    warnings
}

fn show(answer: &Value) {
    match &answer["daemon"] {
        Value::Null => println!("daemon     not running"),
        daemon => {
            let up = render::duration_ms(daemon["uptime_ms"].as_u64().unwrap_or(0));
            println!(
                "daemon     version {}, pid {}, up {up}",
                text(&daemon["version"]),
                daemon["pid"]
            );
        }
    }
    let agents: Vec<_> = answer["agents"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|agent| {
            let ago = text(&agent["last_at"])
                .parse()
                .map(|at| Timestamp::now().millis_since(at))
                .unwrap_or(0);
            let sessions = agent["sessions"].as_u64().unwrap_or(0);
            let word = if sessions == 1 { "session" } else { "sessions" };
            format!(
                "{} {sessions} {word}, heard of {} ago",
                text(&agent["agent"]),
                render::duration_ms(ago)
            )
        })
        .collect();
    if !agents.is_empty() {
        render::print_wrapped("agents     ", &agents.join("; "));
    }
    println!(
        "sessions   {} known, {} running, {} waiting for you",
        answer["sessions"], answer["running"], answer["waiting"]
    );
    for session in answer["waiting_for_you"]
        .as_array()
        .into_iter()
        .flatten()
        .rev()
        .take(WAITING)
    {
        let id: String = text(&session["session"]).chars().take(8).collect();
        let word = render::printable(text(&session["notification"]));
        let project = render::path(Path::new(text(&session["project"])));
        let line = format!(
            "           {id} {:6} {word} in {project}",
            text(&session["agent"])
        );
        println!("{}", render::cut(&line, render::width()));
    }
    let size = |value: &Value| render::bytes(value.as_u64().unwrap_or(0));
    let hooks = &answer["hooks"];
    if let (Some(p50), Some(p99)) = (hooks["p50_us"].as_f64(), hooks["p99_us"].as_f64()) {
        let (p50, p99) = (p50 / 1e3, p99 / 1e3);
        let times = format!(
            "{p50:.1} ms until journaled, {p99:.1} ms for one in a hundred (the last {} calls)",
            hooks["calls"]
        );
        render::print_wrapped("hooks      ", &times);
    }
    println!(
        "journal    {} events, {} store, {} log, {} free",
        answer["events"],
        size(&answer["store_bytes"]),
        size(&answer["intake_bytes"]),
        size(&answer["free_bytes"])
    );
    println!("spool      {} calls", answer["spool"]["calls"]);
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        for (number, line) in render::wrapped("warning    ", &render::printable(text(warning)))
            .into_iter()
            .enumerate()
        {
            let painted = render::paint(render::Colour::Yellow, "warning");
            println!(
                "{}",
                if number == 0 {
                    line.replacen("warning", &painted, 1)
                } else {
                    line
                }
            );
        }
    }
    let decisions: Vec<_> = answer["last_decisions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    if !decisions.is_empty() {
        println!();
        decision_table(&decisions).print();
    }
}

/// Says how the delivery of a decision stands, and why.
pub(super) fn delivery(line: &Value) -> String {
    match line["delivery_reason"].as_str() {
        Some(word) => format!("{} ({word})", text(&line["delivery"])),
        None => text(&line["delivery"]).into(),
    }
}

/// Returns decisions as a table.
pub(super) fn decision_table(decisions: &[Value]) -> Table<8> {
    let mut table = Table::new([
        "SEQ", "AT", "AGENT", "SESSION", "TURN", "VERDICT", "REASON", "DELIVERY",
    ])
    .optional(&[4, 3]);
    for line in decisions {
        table.row([
            line["seq"].to_string(),
            render::local_time(text(&line["at"])),
            text(&line["agent"]).into(),
            text(&line["session"]).chars().take(8).collect(),
            line["turn"].to_string(),
            text(&line["verdict"]).into(),
            text(&line["reason"]).into(),
            delivery(line),
        ]);
    }
    table
}
