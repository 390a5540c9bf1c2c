//! `status` and `daemon status`: how things stand.

use journal::Home;
use serde_json::{Value, json};

use crate::cli::Output;
use crate::failure::{Result, exit};
use crate::query::{Audit, Query};
use crate::render::{self, Table};
use crate::source;

/// Decisions that are shown.
const DECISIONS: u64 = 5;

/// Says whether the daemon runs: exit 0 if it does, 3 if not.
pub(super) fn daemon(home: &Home, output: Output) -> Result<u8> {
    let health = source::health(home);
    let running = health.is_some();
    let mut answer = json!({ "running": running, "socket": home.socket });
    if let (Value::Object(answer), Some(Value::Object(health))) = (&mut answer, health) {
        answer.extend(health);
    }
    if output.json {
        println!("{answer}");
    } else if running {
        let up = render::duration_ms(answer["uptime_ms"].as_u64().unwrap_or(0));
        println!("running: version {}, pid {}, up {up}", text(&answer["version"]), answer["pid"]);
    } else {
        println!("not running (start it with `checkpointd daemon --detach`)");
    }
    Ok(if running { exit::OK } else { exit::UNREACHABLE })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Shows at a glance how things stand.
pub(super) fn status(home: &Home, output: Output) -> Result<u8> {
    let daemon = source::health(home).and_then(|_| source::get(home, "/v1/status").ok());
    let spool = actors::spool::list(&home.spool).unwrap_or_default();
    let spool_bytes: u64 = spool.iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum();
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
    let mut sessions = Vec::new();
    source::ask(home, &Query::Sessions, |line| sessions.push(line))?;
    let mut decisions = Vec::new();
    source::ask(home, &Query::Audit(Audit { limit: Some(DECISIONS), ..Audit::default() }), |line| {
        decisions.push(line)
    })?;
    let stats = source::ask_one(home, &Query::Stats, |_, _| ())?;
    let rejected = stats["kinds"]["payload_rejected"].as_u64().unwrap_or(0);
    let warnings = warnings(daemon.as_ref(), rejected, spool.len());
    let answer = json!({
        "daemon": daemon,
        "sessions": sessions.len(),
        "running": sessions.iter().filter(|session| session["running"] == json!(true)).count(),
        "waiting": sessions.iter().filter(|session| !session["notification"].is_null()).count(),
        "events": stats["events"],
        "rejected": rejected,
        "store_bytes": stats["store_bytes"],
        "intake_bytes": stats["intake_bytes"],
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

fn warnings(daemon: Option<&Value>, rejected: u64, spooled: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(daemon) = daemon {
        let notes = daemon["recovery"].as_array().into_iter().flatten();
        warnings.extend(notes.map(|note| format!("at the last start: {}", text(note))));
        if let Some(error) = daemon["config_error"].as_str() {
            warnings.push(format!("the configuration is not used: {error}"));
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
        warnings.push(format!("{rejected} payloads could not be read: `checkpointd tail --kind payload_rejected`"));
    }
    if spooled > 0 && daemon.is_none() {
        warnings.push(format!("{spooled} hook calls wait in the spool for a daemon"));
    }
    warnings
}

fn show(answer: &Value) {
    match &answer["daemon"] {
        Value::Null => println!("daemon     not running"),
        daemon => {
            let up = render::duration_ms(daemon["uptime_ms"].as_u64().unwrap_or(0));
            println!("daemon     version {}, pid {}, up {up}", text(&daemon["version"]), daemon["pid"]);
        }
    }
    println!(
        "sessions   {} known, {} running, {} waiting for you",
        answer["sessions"], answer["running"], answer["waiting"]
    );
    let size = |value: &Value| render::bytes(value.as_u64().unwrap_or(0));
    println!(
        "journal    {} events, {} store, {} log",
        answer["events"],
        size(&answer["store_bytes"]),
        size(&answer["intake_bytes"])
    );
    println!("spool      {} calls", answer["spool"]["calls"]);
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        println!("{}    {}", render::paint(render::Colour::Yellow, "warning"), render::printable(text(warning)));
    }
    let decisions: Vec<_> = answer["last_decisions"].as_array().cloned().unwrap_or_default();
    if !decisions.is_empty() {
        println!();
        decision_table(&decisions).print();
    }
}

/// Returns decisions as a table.
pub(super) fn decision_table(decisions: &[Value]) -> Table<8> {
    let mut table = Table::new(["SEQ", "AT", "AGENT", "SESSION", "TURN", "VERDICT", "REASON", "DELIVERY"]);
    for line in decisions {
        table.row([
            line["seq"].to_string(),
            render::local_time(text(&line["at"])),
            text(&line["agent"]).into(),
            text(&line["session"]).chars().take(8).collect(),
            line["turn"].to_string(),
            text(&line["verdict"]).into(),
            text(&line["reason"]).into(),
            match line["delivery_reason"].as_str() {
                Some(word) => format!("{} ({word})", text(&line["delivery"])),
                None => text(&line["delivery"]).into(),
            },
        ]);
    }
    table
}
