//! Events as the page's lanes and their table show them: a session of many thousands is read whole, so that no more of
//! each goes over the line than is seen of it.

use journal::{Envelope, Event, Timestamp, ToolCall};
use serde_json::{Map, Value, json};

/// The fields that are said of an event, whatever its kind.
const SAID: [&str; 23] = [
    "source",
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

/// Returns what is seen of an event before somebody asks for all of it: `seq`, `at`, `kind`, `began_at` where it is the
/// end of a tool call, and what a line of a table says. Fields that are null, false or empty are left out.
pub(crate) fn brief(envelope: &Envelope, began: Option<Timestamp>) -> Value {
    let mut line = Map::new();
    line.insert("seq".into(), envelope.seq.into());
    line.insert("at".into(), envelope.at.to_string().into());
    line.insert("kind".into(), envelope.event.kind().into());
    if let Some(began) = began {
        line.insert("began_at".into(), began.to_string().into());
    }
    match &envelope.event {
        Event::ToolStarted { call: told, .. }
        | Event::ToolFinished { call: told, .. }
        | Event::ToolFailed { call: told, .. }
        | Event::PermissionAsked { call: told, .. } => {
            line.insert("call".into(), call(told));
        }
        // As long as all the rest of a session, and nothing of it is said.
        Event::EvidenceGathered { .. } | Event::BaselineTaken { .. } => {}
        Event::ModelStepped { host } | Event::OtherHook { host, .. } => {
            line.insert("hook".into(), cut(&host.hook).into());
        }
        event => said(&mut line, event),
    }
    if let Some(place) = envelope.event.host().and_then(|host| host.place.as_ref()) {
        line.insert("cwd".into(), place.cwd.as_str().into());
    }
    line.into()
}

fn said(line: &mut Map<String, Value>, event: &Event) {
    let Ok(Value::Object(tagged)) = serde_json::to_value(event) else {
        return;
    };
    let fields = tagged.into_iter().filter_map(|(_, fields)| {
        if let Value::Object(fields) = fields {
            Some(fields)
        } else {
            None
        }
    });
    for (name, value) in fields
        .flatten()
        .filter(|(name, _)| SAID.contains(&name.as_str()))
    {
        let value = match value {
            Value::String(text) => cut(&text).into(),
            Value::Null | Value::Bool(false) | Value::Array(_) | Value::Object(_) => continue,
            plain => plain,
        };
        line.insert(name, value);
    }
}

fn call(call: &ToolCall) -> Value {
    let mut line = json!({ "tool": cut(&call.tool), "kind": call.kind });
    if let Some(command) = &call.command {
        line["command"] = cut(command).into();
    } else if !call.paths.is_empty() {
        line["paths"] = call
            .paths
            .iter()
            .take(PATHS_MAX)
            .map(|path| cut(path))
            .collect();
    }
    if let Some(took) = call.duration_ms {
        line["duration_ms"] = took.into();
    }
    for (name, is) in [("is_error", call.is_error), ("refused", call.refused)] {
        if is {
            line[name] = true.into();
        }
    }
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
