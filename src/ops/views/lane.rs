//! Events as the page's lanes and their table show them. Sessions with many thousands of events are read whole, so each
//! line has only the fields that are shown.

use journal::{Agent, Envelope, Event, Timestamp, ToolCall, ToolKind};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

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

/// An event as a lane shows it. Fields that are null, false or empty are left out, and what is as in the line before.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LaneLine {
    seq: u64,
    at: Timestamp,
    kind: &'static str,
    /// For the end of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    began_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<LaneCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<String>,
    /// The id of the subagent that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<String>,
    /// The fields of the event's kind that are worth a word in the table.
    #[serde(flatten)]
    said: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Only on the first line.
    #[serde(flatten)]
    pub(crate) of: Option<LaneSession>,
    /// Only on the first line of a turn.
    #[serde(flatten)]
    pub(crate) turn: Option<LaneTurn>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct LaneSession {
    pub(crate) session: Uuid,
    pub(crate) agent: Agent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LaneTurn {
    pub(crate) turn: u64,
    pub(crate) turn_began_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize)]
struct LaneCall {
    tool: String,
    kind: ToolKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Only if the call has no command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
}

impl LaneLine {
    /// Makes the line of an event; `began` is when the tool call began that ends with it.
    pub(crate) fn new(envelope: &Envelope, began: Option<Timestamp>) -> Self {
        let mut line = Self {
            seq: envelope.seq,
            at: envelope.at,
            kind: envelope.event.kind(),
            began_at: began,
            call: None,
            hook: None,
            subagent: None,
            said: Map::new(),
            cwd: None,
            of: None,
            turn: None,
        };
        match &envelope.event {
            Event::ToolStarted { call, .. }
            | Event::ToolFinished { call, .. }
            | Event::ToolFailed { call, .. }
            | Event::PermissionAsked { call, .. } => line.call = Some(LaneCall::new(call)),
            // As long as the rest of a session, of which nothing is shown.
            Event::EvidenceGathered { .. }
            | Event::FactsGathered { .. }
            | Event::BaselineTaken { .. }
            | Event::HeadSeen { .. }
            | Event::CallExamined { .. } => {}
            Event::ModelStepped { host } | Event::OtherHook { host, .. } => {
                line.hook = Some(cut(&host.hook));
            }
            event => line.said = said(event),
        }
        let host = envelope.event.host();
        line.subagent = host.and_then(|host| host.subagent.as_deref().map(cut));
        let place = host.and_then(|host| host.place.as_ref());
        line.cwd = place.map(|place| place.cwd.clone());
        line
    }
}

fn said(event: &Event) -> Map<String, Value> {
    let mut said = Map::new();
    let Ok(Value::Object(tagged)) = serde_json::to_value(event) else {
        return said;
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
        said.insert(name, value);
    }
    said
}

impl LaneCall {
    fn new(call: &ToolCall) -> Self {
        let paths = match call.command {
            Some(_) => &[],
            None => &call.paths[..call.paths.len().min(PATHS_MAX)],
        };
        Self {
            tool: cut(&call.tool),
            kind: call.kind,
            command: call.command.as_deref().map(cut),
            paths: paths.iter().map(|path| cut(path)).collect(),
            duration_ms: call.duration_ms,
            is_error: call.is_error,
            refused: call.refused,
        }
    }
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
