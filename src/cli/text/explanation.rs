//! One decision with all that it was based on, on one screen.

use serde_json::Value;

use super::{event_line, rule_trace};
use crate::render::{self, Colour};

/// The most characters of the list of changed files that are shown.
const LIST_CHARS_MAX: usize = 400;
/// The most tool calls that are shown, the newest.
const CALLS_MAX: usize = 12;

fn heading(page: &mut Vec<String>, text: &str) {
    page.extend([String::new(), render::paint(Colour::Bold, text)]);
}

/// Adds a labelled line of a section, broken where it is too long.
fn entry(page: &mut Vec<String>, label: &str, text: &str) {
    page.extend(render::wrapped(&format!("  {label:22} "), text));
}

/// Returns a value of a state as a person would read it.
fn shown(key: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(value) if key.ends_with("_at") => render::local_time(value),
        Value::String(value) => render::printable(value),
        other => other.to_string(),
    }
}

/// Returns an explanation, as [`Query::Explain`] gives it, as lines for people.
pub(crate) fn explanation(answer: &Value) -> Vec<String> {
    let mut page = Vec::new();

    let decision = &answer["decision"];
    let inject = decision["verdict"] == "inject";
    let verdict = render::paint(
        if inject {
            Colour::Green
        } else {
            Colour::Yellow
        },
        text(&decision["verdict"]),
    );
    page.push(format!(
        "decision {}: {verdict}, {}",
        decision["seq"],
        text(&decision["reason"])
    ));
    page.push(format!(
        "{} session {}, turn {}, {}",
        text(&decision["agent"]),
        text(&decision["session"])
            .chars()
            .take(8)
            .collect::<String>(),
        decision["turn"],
        render::local_time(text(&decision["at"])),
    ));
    heading(&mut page, "what happened");
    page.push(format!(
        "  {}",
        render::fit(
            &event_line::in_tail(&answer["event"]),
            render::width().saturating_sub(2)
        )
    ));
    heading(&mut page, "the session before it");
    let state = &answer["state"];
    let keys = [
        "project",
        "last_message_sent_at",
        "last_checkpoint_at",
        "last_tool_use_at",
        "blocks_this_turn",
    ];
    for key in keys.into_iter().chain(
        ["cleared", "muted"]
            .into_iter()
            .filter(|key| is_set(&state[*key])),
    ) {
        entry(&mut page, key, &shown(key, &state[key]));
    }
    show_evidence(&mut page, &answer["evidence"]);
    rule_trace::show(&mut page, &answer["rules"]["trace"]);
    heading(&mut page, "exits, in order");
    for exit in answer["considered"].as_array().into_iter().flatten() {
        let taken = exit["taken"] == true;
        let mark = if taken {
            render::paint(Colour::Green, "taken")
        } else {
            "     ".into()
        };
        let line = format!(
            "  {mark}  {:18} {}",
            text(&exit["reason"]),
            render::printable(text(&exit["why"]))
        );
        page.push(render::fit(&line, render::width()));
    }
    show_demands(&mut page, decision, &answer["demand"]);
    show_times(&mut page, answer);
    if let Some(message) = decision["message"].as_str() {
        heading(&mut page, "message");
        render::printable_lines(message)
            .lines()
            .for_each(|line| page.extend(render::wrapped("  ", line)));
    }
    page
}

/// Tells whether a switch of the session is on.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != "off"
}

fn show_evidence(page: &mut Vec<String>, evidence: &Value) {
    if evidence.is_null() {
        return;
    }
    heading(page, "what git and the transcript said");
    match &evidence["changes"] {
        Value::Object(changes) if changes.contains_key("known") => {
            let files: Vec<_> = changes["known"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|file| text(&file["path"]))
                .collect();
            let files = if files.is_empty() {
                "none".to_owned()
            } else {
                files.join(" ")
            };
            entry(
                page,
                "changed files",
                &render::printable(&render::cut(&files, LIST_CHARS_MAX)),
            );
        }
        Value::Object(changes) => entry(
            page,
            "changed files",
            &format!("unknown: {}", text(&changes["unknown"])),
        ),
        _ => entry(page, "changed files", "not asked for"),
    }
    let timeline = &evidence["timeline"];
    let calls: Vec<_> = timeline["calls"].as_array().into_iter().flatten().collect();
    entry(
        page,
        "tool calls",
        &format!("{}, from: {}", calls.len(), text(&timeline["source"])),
    );
    let first = calls.len().saturating_sub(CALLS_MAX);
    if first > 0 {
        page.push(format!("    {first} more before these"));
    }
    for (index, call) in calls.iter().enumerate().skip(first) {
        page.push(render::fit(
            &format!("    {:>3} {}", index + 1, event_line::tool(call)),
            render::width(),
        ));
    }
    for note in evidence["notes"].as_array().into_iter().flatten() {
        entry(page, "note", &render::printable(text(note)));
    }
}

fn show_demands(page: &mut Vec<String>, decision: &Value, demand: &Value) {
    let list = |key: &str| decision[key].as_array().cloned().unwrap_or_default();
    if !list("actions").is_empty() {
        let end = match text(&demand["end"]) {
            "met" => ": all were done afterwards".to_owned(),
            "left" => {
                format!(
                    ": {} of {} were not done afterwards",
                    count(&demand["left"]),
                    list("actions").len()
                )
            }
            "open" => ": the agent has not stopped again yet".to_owned(),
            _ => String::new(),
        };
        heading(page, &format!("actions{end}"));
        for action in list("actions") {
            let action_text = format!(
                "{}  ({})",
                render::printable(text(&action["text"])),
                text(&action["category"])
            );
            page.extend(render::wrapped(
                &format!("  {:10} ", text(&action["step"])),
                &action_text,
            ));
        }
    }
    if !list("observations").is_empty() {
        heading(page, "observations");
        list("observations")
            .iter()
            .for_each(|line| page.extend(render::wrapped("  ", &render::printable(text(line)))));
    }
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// Shows how long each step took, and when each thing was in the journal after the stop.
fn show_times(page: &mut Vec<String>, answer: &Value) {
    let steps = answer["evidence"]["steps"].as_array().into_iter().flatten();
    let steps: Vec<_> = steps
        .map(|step| format!("{} {}", text(&step[0]), micros(step[1].as_i64())))
        .collect();
    let outcome = text(&answer["decision"]["delivery"]);
    heading(
        page,
        &if outcome == "none" {
            "times".to_owned()
        } else {
            format!("times, and the delivery: {outcome}")
        },
    );
    if !steps.is_empty() {
        entry(page, "looking things up", &steps.join(", "));
    }
    let delivery: Vec<_> = answer["delivery"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    for (index, time) in answer["times"].as_array().into_iter().flatten().enumerate() {
        let what = match index {
            0 => "stop journaled".to_owned(),
            1 => "decision journaled".to_owned(),
            _ => text(&time["kind"]).replace('_', " "),
        };
        // The first two are the stop and the decision.
        let said = index
            .checked_sub(2)
            .and_then(|index| delivery.get(index))
            .map(|event| event_line::said(event));
        let said = said
            .filter(|said| !said.is_empty())
            .map(|said| format!("  ({said})"))
            .unwrap_or_default();
        entry(
            page,
            &what,
            &format!("{} after the stop{said}", micros(time["after_us"].as_i64())),
        );
    }
}

/// Says how long something took.
fn micros(us: Option<i64>) -> String {
    match us {
        None => "-".into(),
        Some(us @ ..0) => format!("-{}", micros(Some(-us))),
        Some(us @ 0..1_000) => format!("{us}us"),
        Some(us @ 1_000..10_000) => format!("{}.{}ms", us / 1_000, us % 1_000 / 100),
        Some(us) => render::duration_ms(us.unsigned_abs() / 1_000),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
