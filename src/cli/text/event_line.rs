//! One event as one line, for `timeline` and `tail`.

use serde_json::Value;

use crate::render::{self, Colour};

/// The longest text of an event that is shown.
const TEXT_CHARS_MAX: usize = 90;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn quoted(value: &Value) -> String {
    format!(
        "\"{}\"",
        render::cut(&render::printable(text(value)), TEXT_CHARS_MAX)
    )
}

/// Returns what an event says, for a line of `timeline`; none for what would only be in the way there.
pub(crate) fn in_timeline(line: &Value) -> Option<String> {
    match text(&line["kind"]) {
        "model_stepped" | "other_hook" | "tool_started" | "evidence_gathered" | "announced" => None,
        // That it is a tool call shows.
        "tool_finished" | "tool_failed" => Some(tool(&line["call"])),
        kind => Some(
            format!("{} {}", kind.replace('_', " "), rest(kind, line))
                .trim_end()
                .to_owned(),
        ),
    }
}

/// Returns an event as a line of `tail`, cut to the terminal's width.
pub(crate) fn in_tail(line: &Value) -> String {
    render::fit(&whole(line), render::width())
}

/// Returns an event as a line, however long.
pub(crate) fn whole(line: &Value) -> String {
    let session: String = text(&line["session"]).chars().take(8).collect();
    let late = if line["late"] == true { " (late)" } else { "" };
    let kind = text(&line["kind"]);
    let words = format!("{:<20} {}", kind.replace('_', " "), rest(kind, line));
    format!(
        "{}  {:>6}  {:6} {session}  {}{late}",
        render::time_of_day(text(&line["at"])),
        line["seq"].to_string(),
        text(&line["agent"]),
        words.trim_end()
    )
}

/// Returns what an event says beside its kind.
pub(crate) fn said(line: &Value) -> String {
    rest(text(&line["kind"]), line)
}

/// Says what an event of a kind says.
fn rest(kind: &str, line: &Value) -> String {
    match kind {
        "session_started" => text(&line["source"]).to_owned(),
        "session_ended" => text(&line["reason"]).to_owned(),
        "prompt_submitted" | "prompt_found" => {
            format!("{} {}", text(&line["origin"]), quoted(&line["text"]))
        }
        "tool_started" | "tool_finished" | "tool_failed" | "permission_asked" => {
            tool(&line["call"])
        }
        "agent_stopped" if line["reentry"] == true => "again".to_owned(),
        "interrupted" => text(&line["cause"]).to_owned(),
        "notified" => format!(
            "{} {}",
            render::printable(text(&line["notification"])),
            quoted(&line["message"])
        ),
        "decided" => decision(line),
        "delivery_attempted" => format!("{} of {}", text(&line["route"]), line["decision"]),
        "delivery_confirmed" => format!("{} by {}", line["decision"], text(&line["by"])),
        "delivery_held" => format!("{} {}", line["decision"], text(&line["obstacle"])),
        "delivery_pasted" | "delivery_entered" => line["decision"].to_string(),
        "delivery_failed" | "delivery_expired" => {
            format!("{} {}", line["decision"], text(&line["reason"]))
        }
        "escape_hatch_used" => format!("by {}", text(&line["by"])),
        "muted" => line["until"]
            .as_str()
            .map(|until| format!("until {}", render::local_time(until)))
            .unwrap_or_default(),
        "announced" => format!("{} of {}", text(&line["news"]), line["about"]),
        "restart_requested" | "agent_restarted" => {
            format!("checkpoint due {}", render::local_time(text(&line["due"])))
        }
        "restart_closed" => format!("{} {}", line["restart"], text(&line["reason"])),
        "phase_created" => {
            format!(
                "{} {}",
                quoted(&line["checkpoint"]["phase"]),
                render::printable(text(&line["file"]))
            )
        }
        "phase_completed" | "phase_deleted" => render::printable(text(&line["checkpoint"])),
        "progress_written" => format!(
            "{} {}",
            text(&line["progress"]),
            render::printable(text(&line["file"]))
        ),
        "progress_validated" => {
            format!(
                "{} {}",
                line["document"],
                if line["holds"] == true {
                    "holds"
                } else {
                    "does not hold"
                }
            )
        }
        "resume_offered" => format!("{} bytes", text(&line["text"]).len()),
        "payload_rejected" => {
            format!(
                "{} {}",
                render::printable(text(&line["claimed_agent"])),
                quoted(&line["problem"])
            )
        }
        "model_stepped" | "other_hook" => render::printable(text(&line["host"]["hook"])),
        _ => String::new(),
    }
}

/// Says what a tool call did, how long it took and how it ended.
pub(crate) fn tool(call: &Value) -> String {
    let paths: Vec<_> = call["paths"]
        .as_array()
        .into_iter()
        .flatten()
        .map(text)
        .collect();
    let about = call["command"]
        .as_str()
        .map_or_else(|| paths.join(" "), str::to_owned);
    let about = render::cut(&render::printable(&about), TEXT_CHARS_MAX);
    let took = call["duration_ms"]
        .as_u64()
        .map(|ms| format!(" {}", render::duration_ms(ms)))
        .unwrap_or_default();
    let outcome = match (call["is_error"] == true, call["refused"] == true) {
        (true, _) => render::paint(Colour::Red, " failed"),
        (_, true) => render::paint(Colour::Yellow, " refused"),
        _ => String::new(),
    };
    format!(
        "{} {about}{took}{outcome}",
        render::printable(text(&call["tool"]))
    )
}

fn decision(line: &Value) -> String {
    let inject = line["verdict"] == "inject";
    let verdict = render::paint(
        if inject { Colour::Green } else { Colour::Dim },
        text(&line["verdict"]),
    );
    let elapsed = line["elapsed_ms"]
        .as_u64()
        .map(|ms| format!(" after {}", render::duration_ms(ms)));
    let route = line["route"].as_str().map(|route| format!(" by {route}"));
    format!(
        "{verdict} {}{}{}",
        text(&line["reason"]),
        elapsed.unwrap_or_default(),
        route.unwrap_or_default()
    )
}
