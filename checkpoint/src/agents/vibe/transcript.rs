//! Vibe: a journal of what goes into its core and out of it, one JSON object a line, in
//! `~/.vibe/logs/session/unified/<session>/journal/`. Each time that the session's state is saved, another file is
//! begun, and only the last two are kept.
//!
//! `core_input` lines hold a user's message, what the model answered, how a tool call ended and what a hook replied, and
//! the time. `action_intent` lines hold the calls, without a time: the one of the line before is theirs.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::tools::{TOOLS, response};
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Whole;
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};
use crate::transcript::tail::{self, Tail};

/// Only lines with one of these can hold anything of interest.
const MARKS: [&str; 3] = [
    "\"core_input\"",
    "\"action_intent\"",
    "\"command_reserved\"",
];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow)]
    payload: Payload<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default)]
    input: Option<Input<'a>>,
    #[serde(borrow, default)]
    request: Option<Request<'a>>,
    #[serde(borrow, default)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, default)]
    session_id: Scalar<'a>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    command: Command<'a>,
    #[serde(borrow, default)]
    determinism: Option<Determinism<'a>>,
}

#[derive(Deserialize)]
struct Determinism<'a> {
    #[serde(borrow, default)]
    time_unix_ms: Scalar<'a>,
}

#[derive(Deserialize)]
struct Command<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Scalar<'a>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

/// How a call of the model, of a tool or of a hook ended.
#[derive(Deserialize)]
struct Ended<'a> {
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
    #[serde(borrow, default)]
    output: Option<Output<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    message: Scalar<'a>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    feedback: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    call: Option<Call<'a>>,
    #[serde(borrow, default)]
    call_id: Scalar<'a>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    group_name: Scalar<'a>,
    #[serde(borrow, default)]
    tool_name: Scalar<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Lines in the order in which they were written, and what they said so far.
#[derive(Default)]
struct Log {
    now: Timestamp,
    session: Option<String>,
    is_own: bool,
    broken: usize,
}

/// Reads the tail from its end back to where the turn began.
pub(super) fn read(tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
    let (mut lines, mut is_whole) = (Vec::new(), false);
    for text in tail.lines_backward() {
        lines.push(text);
        if !tail.all_turns && begins_turn(text, authors) {
            is_whole = true;
            break;
        }
    }
    let (mut log, mut entries) = (Log::default(), Vec::new());
    for text in lines.into_iter().rev() {
        log.take(text, authors, &mut entries);
    }
    let mut facts = Facts {
        session: log.session.clone(),
        is_whole,
        ..Facts::default()
    };
    normal::fold(&TOOLS, authors, entries, &mut facts);
    log.is_own.then_some(facts)
}

fn begins_turn(text: &str, authors: &Authors<'_>) -> bool {
    let mut entries = Vec::new();
    text.contains("\"user_message\"") && {
        Log::default().take(text, authors, &mut entries);
        entries.iter().any(Entry::begins_turn)
    }
}

/// Reads a whole journal from its beginning.
pub(super) fn whole<'a>(
    text: &'a str,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) -> Whole {
    let mut log = Log::default();
    let lines: Vec<&str> = tail::backward(text).collect();
    for line in lines.into_iter().rev() {
        log.take(line, authors, entries);
    }
    facts.session.clone_from(&log.session);
    Whole {
        is_own: log.is_own,
        is_persons: true,
        broken: log.broken,
    }
}

impl Log {
    /// Reads one line.
    fn take<'a>(&mut self, text: &'a str, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
        if !MARKS.iter().any(|mark| text.contains(mark)) {
            return;
        }
        let Ok(line) = serde_json::from_str::<Line<'a>>(text) else {
            self.broken += 1;
            return;
        };
        let Payload {
            input,
            request,
            params,
        } = line.payload;
        match (line.kind.text(), input, request, params) {
            ("command_reserved", _, _, Some(params)) => self.session = params.session_id.owned(),
            ("core_input", Some(input), _, _) => {
                let millis = input
                    .determinism
                    .and_then(|known| known.time_unix_ms.number());
                if let Some(millis) = millis {
                    self.now = Timestamp::from_micros(millis.saturating_mul(1000));
                }
                self.is_own = true;
                entries.extend(entry(input.command, self.now, authors));
            }
            ("action_intent", _, Some(request), _) => {
                self.is_own = true;
                entries.extend(call(request, self.now));
            }
            _ => {}
        }
    }
}

fn entry<'a>(command: Command<'a>, at: Timestamp, authors: &Authors<'_>) -> Option<Entry<'a>> {
    let said = |text: Cow<'a, str>| Entry::User {
        origin: authors.origin(&text, false),
        text,
        at,
    };
    if command.kind.text() == "user_message" {
        return Some(said(json::plain(command.content)));
    }
    let ended: Ended<'a> = json::part(command.result)?;
    match (command.kind.text(), command.call_id) {
        ("completion_succeeded", _) => Some(Entry::Assistant {
            text: json::plain(ended.parts),
            at,
        }),
        ("hook_completed", _) => {
            let output = ended.output?;
            let retries = output.kind.text() == "retry";
            let entry = retries.then(|| said(json::plain(output.feedback)))?;
            // Text from a hook is not a person's, even if the person wrote the hook.
            Some(match entry {
                Entry::User {
                    text,
                    at,
                    origin: PromptOrigin::User,
                } => Entry::User {
                    text,
                    at,
                    origin: PromptOrigin::Host,
                },
                entry => entry,
            })
        }
        ("tool_succeeded" | "tool_failed", Scalar::Text(id)) => Some(Entry::Result {
            id,
            result: result(&ended),
            at,
            duration_ms: None,
        }),
        _ => None,
    }
}

fn result<'a>(ended: &Ended<'a>) -> ResultText<'a> {
    if let Some(error) = &ended.error {
        return ResultText {
            is_error: Some(true),
            text: error.message.text().to_owned().into(),
            ..ResultText::default()
        };
    }
    let given: Value = json::value(ended.structured_content);
    let kind = if given.get("returncode").is_some() {
        journal::ToolKind::Shell
    } else {
        journal::ToolKind::Other
    };
    let result = response(kind, &given);
    let text = match result.text.is_empty() {
        true => json::plain(ended.content),
        false => result.text.into_owned().into(),
    };
    ResultText {
        is_error: result.is_error,
        exit_code: result.exit_code,
        text,
        ..ResultText::default()
    }
}

fn call<'a>(request: Request<'a>, at: Timestamp) -> Option<Entry<'a>> {
    let call = request.call?;
    let tool = match (call.name.text(), call.group_name.text()) {
        ("", "") => return None,
        ("", group) => format!("{group}.{}", call.tool_name.text()),
        (name, _) => name.to_owned(),
    };
    let input = json::value(call.arguments);
    Some(Entry::Call {
        call: normal::begun(&TOOLS, request.call_id.text(), &tool, &input, at),
        is_echo: false,
        task: None,
    })
}
