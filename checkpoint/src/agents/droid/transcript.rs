//! Droid: one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.factory/sessions/<folder>/<session>.jsonl`. The runs of hooks are messages without content.

use journal::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::tools::TOOLS;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Read;
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};

/// Only lines with one of these can hold anything of interest.
const MARKS: [&str; 2] = ["\"session_start\"", "\"message\""];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    cwd: Scalar<'a>,
    #[serde(borrow, default)]
    timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Scalar<'a>,
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
    #[serde(borrow, default)]
    timestamp: Scalar<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    text: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Scalar<'a>,
    #[serde(borrow, default)]
    is_error: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

pub(super) fn line<'a>(
    text: &'a str,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) -> Read {
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return Read::Nothing;
    }
    let Ok(line) = serde_json::from_str::<Line<'_>>(text) else {
        return Read::Broken;
    };
    match (line.kind.text(), line.message) {
        ("session_start", _) => {
            facts.session = line.id.owned();
            facts.cwd = line.cwd.owned();
            Read::Own { may_begin: false }
        }
        // Pi's messages are like these, with a time of their own.
        ("message", Some(message)) if message.timestamp.number().is_none() => {
            let at = line.timestamp.time();
            let is_users = message.role.text() == "user";
            let known = entries.len();
            for part in message.content {
                entries.extend(entry(part, is_users, at, authors));
            }
            if entries.len() == known {
                return Read::Nothing;
            }
            Read::Own {
                may_begin: is_users,
            }
        }
        _ => Read::Nothing,
    }
}

fn entry<'a>(
    part: Part<'a>,
    is_users: bool,
    at: Timestamp,
    authors: &Authors<'_>,
) -> Option<Entry<'a>> {
    let kind = part.kind.text();
    match (kind, part.text, part.tool_use_id) {
        ("text", Scalar::Text(text), _) if is_users => {
            let origin = authors.origin(&text, false);
            Some(Entry::User { text, at, origin })
        }
        ("text", Scalar::Text(text), _) => Some(Entry::Assistant { text, at }),
        ("tool_use", ..) => {
            let input = json::value(part.input);
            let (id, tool) = (part.id.text(), part.name.text());
            Some(Entry::Call {
                call: normal::begun(&TOOLS, id, tool, &input, at),
                is_echo: false,
                task: None,
            })
        }
        ("tool_result", _, Scalar::Text(id)) => Some(Entry::Result {
            id,
            result: ResultText {
                is_error: part.is_error.flag(),
                text: json::plain(part.content),
                ..ResultText::default()
            },
            at,
            duration_ms: None,
        }),
        _ => None,
    }
}
