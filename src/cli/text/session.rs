//! How a session stands, in words.

use serde_json::Value;

use crate::render::{self, Colour};

pub(crate) fn colour_of_status(cell: &str) -> Option<Colour> {
    match cell {
        "running" => Some(Colour::Green),
        "ended" => Some(Colour::Dim),
        waiting if waiting.starts_with("waiting: ") => Some(Colour::Yellow),
        _ => None,
    }
}

/// Names what else is to be known of a session: what holds for its next stop, and what is on its way.
pub(crate) fn flags(line: &Value) -> String {
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
pub(crate) fn status(line: &Value) -> String {
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
