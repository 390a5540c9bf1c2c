//! opencode: rows of a database, `~/.local/share/opencode/opencode.db`. A message and its parts become one line,
//! `{session, version, cwd, at, message, parts}`. A part of a tool holds the call and its result.

use std::borrow::Cow;

use journal::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::tools::TOOLS;
use crate::agents::adapter::Database;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Read;
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};

/// Subagents have sessions of their own, with a parent.
pub(super) const DATABASE: Database = Database {
    sessions: "SELECT id, time_updated, \
            (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = session.id) \
        FROM session WHERE parent_id IS NULL",
    // Without `json` around it, the list of parts would be a string.
    lines: "SELECT json_object('session', s.id, 'version', s.version, 'cwd', s.directory, 'at', m.time_created, \
            'message', json(m.data), 'parts', json((SELECT json_group_array(json(p.data)) \
                FROM (SELECT data FROM part WHERE message_id = m.id ORDER BY id) AS p))) \
        FROM message AS m JOIN session AS s ON s.id = m.session_id \
        WHERE m.session_id = ?1 ORDER BY m.time_created, m.id",
};

/// All lines have it.
const MARK: &str = "\"parts\":[";

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    session: Scalar<'a>,
    #[serde(borrow, default)]
    version: Scalar<'a>,
    #[serde(borrow, default)]
    cwd: Scalar<'a>,
    #[serde(borrow, default)]
    at: Scalar<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Scalar<'a>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
    #[serde(borrow, default)]
    time: Option<Times<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    name: Scalar<'a>,
}

#[derive(Default, Deserialize)]
struct Times<'a> {
    #[serde(borrow, default)]
    start: Scalar<'a>,
    #[serde(borrow, default)]
    end: Scalar<'a>,
    #[serde(borrow, default)]
    completed: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    text: Scalar<'a>,
    #[serde(borrow, default)]
    synthetic: Scalar<'a>,
    #[serde(borrow, default)]
    tool: Scalar<'a>,
    #[serde(borrow, default, rename = "callID")]
    call_id: Scalar<'a>,
    #[serde(borrow, default)]
    state: Option<State<'a>>,
    #[serde(borrow, default)]
    time: Option<Times<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow, default)]
    status: Scalar<'a>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<Metadata<'a>>,
    #[serde(borrow, default)]
    time: Option<Times<'a>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    exit: Scalar<'a>,
}

/// Reads one message.
pub(super) fn line<'a>(
    text: &'a str,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) -> Read {
    if !text.contains(MARK) {
        return Read::Nothing;
    }
    let Ok(line) = serde_json::from_str::<Line<'_>>(text) else {
        return Read::Broken;
    };
    let Some(message) = line.message else {
        return Read::Nothing;
    };
    facts.session = line.session.owned();
    facts.host_version = line.version.owned();
    facts.cwd = line.cwd.owned();
    let at = time(&line.at).unwrap_or_default();
    match message.role.text() {
        "user" => {
            let typed = line.parts.into_iter().filter(Part::is_typed);
            let texts: Vec<Cow<'_, str>> = typed.filter_map(Part::into_text).collect();
            let text: Cow<'_, str> = match texts.as_slice() {
                [] => return Read::Own { may_begin: false },
                [one] => one.clone(),
                several => several.join("\n").into(),
            };
            let origin = authors.origin(&text, false);
            entries.push(Entry::User { text, at, origin });
            Read::Own { may_begin: true }
        }
        "assistant" => {
            for part in line.parts {
                add(part, at, entries);
            }
            let is_aborted = message
                .error
                .is_some_and(|error| error.name.text() == "MessageAbortedError");
            if is_aborted {
                let ended = message.time.and_then(|times| time(&times.completed));
                entries.push(Entry::Interrupted {
                    at: ended.unwrap_or(at),
                });
            }
            Read::Own { may_begin: false }
        }
        _ => Read::Nothing,
    }
}

impl<'a> Part<'a> {
    /// Returns whether it is what a person typed: opencode adds texts of its own to a message.
    fn is_typed(&self) -> bool {
        self.kind.text() == "text" && !self.synthetic.is_true()
    }

    fn into_text(self) -> Option<Cow<'a, str>> {
        match self.text {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn add<'a>(part: Part<'a>, at: Timestamp, entries: &mut Vec<Entry<'a>>) {
    let times = part.time.as_ref();
    match (part.kind.text(), part.state) {
        ("text", _) => {
            let at = times.and_then(|times| time(&times.end)).unwrap_or(at);
            if let Scalar::Text(text) = part.text {
                entries.push(Entry::Assistant { text, at });
            }
        }
        ("tool", Some(state)) => {
            let times = state.time.unwrap_or_default();
            let began = time(&times.start).unwrap_or(at);
            let (id, input) = (part.call_id, json::value(state.input));
            entries.push(Entry::Call {
                call: normal::begun(&TOOLS, id.text(), part.tool.text(), &input, began),
                is_echo: false,
                task: None,
            });
            let is_error = state.status.text() == "error";
            if let (Scalar::Text(id), true) = (id, is_error || state.status.text() == "completed") {
                let ended = time(&times.end);
                entries.push(Entry::Result {
                    id,
                    result: ResultText {
                        is_error: is_error.then_some(true),
                        exit_code: state.metadata.and_then(|it| it.exit.number()),
                        text: json::plain(if is_error { state.error } else { state.output }),
                        ..ResultText::default()
                    },
                    at: ended.unwrap_or(began),
                    duration_ms: ended
                        .and_then(|ended| u64::try_from(ended.since(began).as_millis()).ok()),
                });
            }
        }
        _ => {}
    }
}

fn time(millis: &Scalar<'_>) -> Option<Timestamp> {
    let millis = millis.number()?;
    Some(Timestamp::from_micros(millis.saturating_mul(1000)))
}
