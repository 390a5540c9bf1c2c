//! Events as the page's lanes and their table show them. Sessions with many thousands of events are read whole, so each
//! line has only the fields that are shown.

use journal::{Envelope, Event, Timestamp, ToolCall};
use serde_json::{Map, Value, json};

/// The fields that are shown of an event, whatever its kind.
const SAID: [&str; 24] = [
    "source",
    "subagent_type",
    "reason",
    "origin",
    "text",
    "reentry",
    "last_message",
    "cause",
    "notification",
    "message",
    "verdict",
    "elapsed_ms",
    "route",
    "decision",
    "by",
    "obstacle",
    "until",
    "news",
    "about",
    "due",
    "progress",
    "file",
    "document",
    "holds",
];
/// The longest text of a field; what shows it cuts it shorter.
const TEXT_CHARS_MAX: usize = 120;
/// The most paths of a tool call.
const PATHS_MAX: usize = 4;

/// Returns the line of an event; `began` is when the tool call began that ends with it. Fields that are null, false or
/// empty are left out.
pub(crate) fn lane(envelope: &Envelope, began: Option<Timestamp>) -> Map<String, Value> {
    let mut line = Map::new();
    put(&mut line, "seq", json!(envelope.seq));
    put(&mut line, "at", json!(envelope.at));
    put(&mut line, "kind", json!(envelope.event.kind()));
    put(&mut line, "began_at", json!(began));
    let host = envelope.event.host();
    match &envelope.event {
        Event::ToolStarted { call, .. }
        | Event::ToolFinished { call, .. }
        | Event::ToolFailed { call, .. }
        | Event::PermissionAsked { call, .. } => put(&mut line, "call", short(call).into()),
        // As long as the rest of a session, of which nothing is shown.
        Event::EvidenceGathered { .. }
        | Event::FactsGathered { .. }
        | Event::BaselineTaken { .. }
        | Event::HeadSeen { .. }
        | Event::CallExamined { .. } => {}
        Event::ModelStepped { host } | Event::OtherHook { host, .. } => {
            put(&mut line, "hook", cut(&host.hook).into());
        }
        event => said(event, &mut line),
    }
    let subagent = host.and_then(|host| host.subagent.as_deref().map(cut));
    put(&mut line, "subagent", json!(subagent));
    let place = host.and_then(|host| host.place.as_ref());
    put(&mut line, "cwd", json!(place.map(|place| &place.cwd)));
    line
}

fn put(line: &mut Map<String, Value>, name: &str, value: Value) {
    let is_empty = value.as_array().is_some_and(Vec::is_empty);
    if !is_empty && !value.is_null() && value != false {
        line.insert(name.to_owned(), value);
    }
}

/// Adds the fields of the event's kind that are worth a word in the table.
fn said(event: &Event, line: &mut Map<String, Value>) {
    let Ok(Value::Object(tagged)) = serde_json::to_value(event) else {
        return;
    };
    let fields = tagged.into_iter().filter_map(|(_, fields)| match fields {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    for (name, value) in fields.flatten() {
        match value {
            _ if !SAID.contains(&name.as_str()) => {}
            Value::Array(_) | Value::Object(_) => {}
            Value::String(text) => put(line, &name, cut(&text).into()),
            plain => put(line, &name, plain),
        }
    }
}

fn short(call: &ToolCall) -> Map<String, Value> {
    let mut line = Map::new();
    // A command says more than its paths.
    let paths = call.paths.iter().take(match call.command {
        Some(_) => 0,
        None => PATHS_MAX,
    });
    put(&mut line, "tool", cut(&call.tool).into());
    put(&mut line, "kind", json!(call.kind));
    put(
        &mut line,
        "command",
        json!(call.command.as_deref().map(cut)),
    );
    put(&mut line, "paths", paths.map(|path| cut(path)).collect());
    put(&mut line, "duration_ms", json!(call.duration_ms));
    put(&mut line, "is_error", call.is_error.into());
    put(&mut line, "refused", call.refused.into());
    line
}

/// Returns the beginning of a text, white space in it as one space.
fn cut(text: &str) -> String {
    let mut short = String::with_capacity(text.len().min(TEXT_CHARS_MAX));
    let mut left = TEXT_CHARS_MAX;
    for word in text.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
            left -= 1;
        }
        short.extend(word.chars().take(left));
        left = left.saturating_sub(word.chars().take(left).count());
        if left <= 1 {
            break;
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_however_long_it_is() {
        assert_eq!(cut("  do\n\tthis   now "), "do this now");
        for text in [
            "word ".repeat(10_000),
            "ä".repeat(10_000),
            format!("{} {}", "a".repeat(119), "b".repeat(9)),
        ] {
            let short = cut(&text);
            assert!(
                (118..=TEXT_CHARS_MAX).contains(&short.chars().count()),
                "{short}"
            );
        }
    }
}
