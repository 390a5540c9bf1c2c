//! Pi: one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`.

use std::borrow::Cow;

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
const MARKS: [&str; 2] = ["\"session\"", "\"message\""];

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
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(borrow, default)]
    is_error: Scalar<'a>,
    #[serde(borrow, default)]
    stop_reason: Scalar<'a>,
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
    arguments: Option<&'a RawValue>,
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
        ("session", _) => {
            facts.session = line.id.owned();
            facts.cwd = line.cwd.owned();
            Read::Own { may_begin: false }
        }
        // Factory droid's messages are like these, without a time of their own.
        ("message", Some(message)) if message.timestamp.number().is_some() => {
            add(message, line.timestamp.time(), authors, entries)
        }
        _ => Read::Nothing,
    }
}

fn add<'a>(
    message: Message<'a>,
    at: Timestamp,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) -> Read {
    match (message.role.text(), message.tool_call_id) {
        ("user", _) => {
            let text = json::plain(message.content);
            let origin = authors.origin(&text, false);
            entries.push(Entry::User { text, at, origin });
            return Read::Own { may_begin: true };
        }
        ("assistant", _) => {
            let parts: Vec<Part<'_>> = json::part(message.content).unwrap_or_default();
            entries.extend(parts.into_iter().filter_map(|part| said(part, at)));
            if message.stop_reason.text() == "aborted" {
                entries.push(Entry::Interrupted { at });
            }
        }
        ("toolResult", Scalar::Text(id)) => entries.push(Entry::Result {
            id,
            result: ResultText {
                is_error: message.is_error.flag(),
                text: json::plain(message.content),
                ..ResultText::default()
            },
            at,
            duration_ms: None,
        }),
        _ => return Read::Nothing,
    }
    Read::Own { may_begin: false }
}

fn said<'a>(part: Part<'a>, at: Timestamp) -> Option<Entry<'a>> {
    if part.kind.text() == "toolCall" {
        let input = json::value(part.arguments);
        return Some(Entry::Call {
            call: normal::begun(&TOOLS, part.id.text(), part.name.text(), &input, at),
            is_echo: false,
            task: None,
        });
    }
    let text: Option<Cow<'a, str>> = match part.text {
        Scalar::Text(text) if part.kind.text() == "text" => Some(text),
        _ => None,
    };
    text.map(|text| Entry::Assistant { text, at })
}
