//! `explain`: one decision with all that it was based on, on one screen.

use journal::Home;
use serde_json::Value;

use super::{lines, text};
use crate::cli::Output;
use crate::commands::trace;
use crate::failure::{Failure, Result, exit};
use crate::query::Query;
use crate::render::{self, Colour};
use crate::source;

/// Explains one decision.
pub(in crate::commands) fn explain(home: &Home, decision: &str, session: Option<String>, output: Output) -> Result<u8> {
    let seq = match decision {
        "last" => None,
        number => Some(number.parse().map_err(|_| {
            Failure::usage(format!("`{number}` is neither a sequence number nor `last`"))
                .hint("`checkpointd audit` lists decisions with their numbers")
        })?),
    };
    let answer = source::ask_one(home, &Query::Explain { seq, session }, |_, _| ())?;
    if output.json {
        println!("{answer}")
    } else {
        show(&answer)
    }
    Ok(exit::OK)
}

fn heading(text: &str) {
    println!("\n{}", render::paint(Colour::Bold, text));
}

fn show(answer: &Value) {
    let decision = &answer["decision"];
    let inject = decision["verdict"] == "inject";
    let verdict = render::paint(if inject { Colour::Green } else { Colour::Yellow }, text(&decision["verdict"]));
    println!(
        "decision {}: {verdict}, {}  ({} session {}, turn {}, {})",
        decision["seq"],
        text(&decision["reason"]),
        text(&decision["agent"]),
        text(&decision["session"]).chars().take(8).collect::<String>(),
        decision["turn"],
        render::local_time(text(&decision["at"])),
    );
    heading("what happened");
    println!("  {}", lines::in_tail(&answer["event"]));
    let state = &answer["state"];
    for key in ["project", "last_message_sent_at", "last_checkpoint_at", "last_tool_use_at", "blocks_this_turn"] {
        let value = match &state[key] {
            Value::Null => "-".to_owned(),
            Value::String(value) if key.ends_with("_at") => render::local_time(value),
            Value::String(value) => render::printable(value),
            other => other.to_string(),
        };
        println!("  {key:22} {value}");
    }
    heading("exits, in order");
    for exit in answer["considered"].as_array().into_iter().flatten() {
        let mark = if exit["taken"] == true { render::paint(Colour::Green, "taken") } else { "     ".into() };
        println!("  {mark}  {:18} {}", text(&exit["reason"]), render::printable(text(&exit["why"])));
    }
    show_evidence(&answer["evidence"]);
    trace::show(&answer["rules"]["trace"]);
    show_demands(decision);
    let delivery: Vec<_> = answer["delivery"].as_array().into_iter().flatten().collect();
    if !delivery.is_empty() {
        heading(&format!("delivery: {}", text(&decision["delivery"])));
        delivery.iter().for_each(|event| println!("  {}", lines::in_tail(event)));
    }
    if let Some(message) = decision["message"].as_str() {
        heading("message");
        render::printable_lines(message).lines().for_each(|line| println!("  {line}"));
    }
}

fn show_evidence(evidence: &Value) {
    if evidence.is_null() {
        return;
    }
    heading("what was looked up");
    match &evidence["changes"] {
        Value::Object(changes) if changes.contains_key("known") => {
            let files: Vec<_> =
                changes["known"].as_array().into_iter().flatten().map(|file| text(&file["path"])).collect();
            println!("  {:22} {}", "changed files", render::printable(&render::cut(&files.join(" "), 400)));
        }
        Value::Object(changes) => println!("  {:22} unknown: {}", "changed files", text(&changes["unknown"])),
        _ => println!("  {:22} not asked for", "changed files"),
    }
    let timeline = &evidence["timeline"];
    let calls = timeline["calls"].as_array().map_or(0, Vec::len);
    println!("  {:22} {calls} calls, from the {}", "timeline", text(&timeline["source"]));
    for note in evidence["notes"].as_array().into_iter().flatten() {
        println!("  {:22} {}", "note", render::printable(text(note)));
    }
    let steps = evidence["steps"].as_array().into_iter().flatten();
    let steps: Vec<_> = steps.map(|step| format!("{} {} us", text(&step[0]), step[1])).collect();
    println!("  {:22} {}", "time taken", steps.join(", "));
}

fn show_demands(decision: &Value) {
    let list = |key: &str| decision[key].as_array().cloned().unwrap_or_default();
    if !list("actions").is_empty() {
        heading("actions");
        for action in list("actions") {
            println!(
                "  {:10} {}  ({})",
                text(&action["step"]),
                render::printable(text(&action["text"])),
                text(&action["category"])
            );
        }
    }
    if !list("observations").is_empty() {
        heading("observations");
        list("observations").iter().for_each(|line| println!("  {}", render::printable(text(line))));
    }
}
