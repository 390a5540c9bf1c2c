//! How one thing is printed: an event, a plan, a timeline, an explanation.

use std::path::Path;

use serde::Serialize;
use uuid::Uuid;

use crate::render;

pub(crate) mod decisions;
pub(crate) mod event_line;
pub(crate) mod explanation;
pub(crate) mod lookback;
pub(crate) mod plan;
pub(crate) mod progress_bar;
pub(crate) mod rule_trace;
pub(crate) mod session;
pub(crate) mod timeline;

/// Returns a word of JSON as people read it: one that an agent gave, or one of an open set.
pub(crate) fn spaced(word: &str) -> String {
    let word = match word {
        checkpoint::state::AGENT_FINISHED => "finished",
        "permission_prompt" => "asks for permission",
        "idle_prompt" => "waits for your input",
        word => word,
    };
    render::printable(word).replace('_', " ")
}

/// Returns the word that a value without fields is in JSON.
pub(crate) fn word(value: impl Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or_default().to_owned()
}

/// Prints an answer for programs.
pub(crate) fn print_json(answer: &impl Serialize) {
    println!("{}", render::json(answer));
}

/// Returns the beginning of a session's id, by which people tell sessions apart.
pub(crate) fn short(session: Uuid) -> String {
    // The first digits of a version 7 are the time: several agents that start in the same minute share them.
    let digits = if session.get_version_num() == 7 {
        13
    } else {
        8
    };
    session.to_string().chars().take(digits).collect()
}

pub(crate) fn on_machine(machine: Option<&str>, project: &str) -> String {
    let project = render::path(Path::new(project));
    match machine {
        Some(machine) => format!("{}:{project}", render::printable(machine)),
        None => project,
    }
}
