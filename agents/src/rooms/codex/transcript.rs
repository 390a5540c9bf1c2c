//! Codex CLI: a rollout, one `{timestamp, type, payload}` a line, in `~/.codex/sessions/YYYY/MM/DD`.
//!
//! A tool use has up to three records: what the model asked (`response_item` call), what was run (`event_msg` item), and
//! what the model got back (`response_item` output). Older rollouts have no items, newer ones may lack the call. A real
//! user message is a `UserMessage` item, in older rollouts a `user_message` event; the `response_item` form counts only
//! if its provenance, or its text, says that a user wrote it.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::items::{Item, add_item};
use super::tools::{KNOWN, TOOLS, session_in};
use super::{results, script};
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Read, Reader};
use crate::transcript::json::{self as read_json, Scalar};
use crate::transcript::normal::{self, Entry};
use crate::transcript::outputs::task_in;
use crate::transcript::tail::Tail;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(rename = "type")]
    kind: Scalar<'a>,
    payload: Option<&'a RawValue>,
}

/// The fields of every payload that is read; each type has some of them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    thread_id: Scalar<'a>,
    item: Option<&'a RawValue>,
    role: Scalar<'a>,
    content: Option<&'a RawValue>,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    metadata: Option<&'a RawValue>,
    message: Scalar<'a>,
    call_id: Scalar<'a>,
    name: Scalar<'a>,
    arguments: Scalar<'a>,
    input: Scalar<'a>,
    action: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
}

/// What a session says about itself.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Place<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    cwd: Scalar<'a>,
    cli_version: Scalar<'a>,
    source: Option<&'a RawValue>,
    git: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Git<'a> {
    #[serde(borrow)]
    branch: Scalar<'a>,
}

/// Reads the tail from its end back to where the turn began.
pub(super) fn backward(tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
    let (mut facts, mut is_codex) = (Facts::default(), false);
    let mut entries = Vec::new();
    // How many entries there are up to the last message of a person, and up to the first one of the same task.
    let (mut to_last, mut to_first) = (None, None);
    for text in tail.lines_backward() {
        let Ok(Some(line)) = parsed(text) else {
            continue;
        };
        is_codex = true;
        if to_first.is_some() && is_task_mark(&line) {
            to_last = to_first;
            break;
        }
        note_place(&line, &mut facts);
        let known = entries.len();
        add_entries(&line, authors, &mut facts, &mut entries);
        entries[known..].reverse();
        if !tail.all_turns && entries[known..].iter().any(Entry::begins_turn) {
            to_first = Some(entries.len());
            to_last = to_last.or(to_first);
        }
    }
    // Rollouts without these events begin a turn at the last message.
    facts.is_whole = to_last.is_some();
    entries.truncate(to_last.unwrap_or(entries.len()));
    // The first line alone says which version this is.
    if let Some(line) = tail
        .first_line()
        .and_then(|text| parsed(text).ok().flatten())
    {
        note_place(&line, &mut facts);
    }
    entries.reverse();
    let entries = script::expand(entries);
    normal::fold(&TOOLS, authors, entries, &mut facts);
    is_codex.then_some(facts)
}

pub(super) fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let Some(line) = parsed(text)? else {
        return Ok(Read::Nothing);
    };
    if is_subagent(&line) {
        return Ok(Read::Foreign);
    }
    note_place(&line, &mut reader.facts);
    add_entries(
        &line,
        reader.authors,
        &mut reader.facts,
        &mut reader.entries,
    );
    Ok(match is_task_mark(&line) {
        true => Read::Task,
        false => Read::Own { may_begin: true },
    })
}

/// Returns the parsed line if it has a type that is read.
fn parsed(text: &str) -> serde_json::Result<Option<Line<'_>>> {
    if !KNOWN.marks(text) {
        return Ok(None);
    }
    let line: Line<'_> = serde_json::from_str(text)?;
    let is_known =
        KNOWN.line_types.iter().any(|it| it == line.kind.text()) && line.payload.is_some();
    Ok(is_known.then_some(line))
}

/// Returns whether a line begins the rollout of a subagent.
fn is_subagent(line: &Line<'_>) -> bool {
    line.kind.text() == "session_meta"
        && read_json::part::<Place<'_>>(line.payload)
            .and_then(|place| place.source)
            .is_some_and(|source| source.get().contains("\"subagent\""))
}

fn is_task_mark(line: &Line<'_>) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type")]
        kind: Scalar<'a>,
    }
    line.kind.text() == "event_msg"
        && read_json::part::<Kind<'_>>(line.payload)
            .is_some_and(|payload| KNOWN.task_marks.iter().any(|it| it == payload.kind.text()))
}

fn note_place(line: &Line<'_>, facts: &mut Facts) {
    let is_session = line.kind.text() == "session_meta";
    if !is_session && line.kind.text() != "turn_context" {
        return;
    }
    let Some(place) = read_json::part::<Place<'_>>(line.payload) else {
        return;
    };
    facts.cwd = facts.cwd.take().or_else(|| place.cwd.owned());
    if is_session {
        facts.session = place.id.owned().or(facts.session.take());
        facts.host_version = place.cli_version.owned();
        facts.branch = read_json::part::<Git<'_>>(place.git).and_then(|git| git.branch.owned());
        facts.headless = place
            .source
            .is_some_and(|source| source.get() == "\"exec\"");
    }
}

fn add_entries<'a>(
    line: &Line<'a>,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) {
    let (at, kind) = (line.timestamp.time(), line.kind.text());
    if !matches!(kind, "response_item" | "event_msg") {
        return;
    }
    let Some(payload) = read_json::part::<Payload<'_>>(line.payload) else {
        return;
    };
    match (kind, payload.kind.text()) {
        ("response_item", "message") => entries.extend(message(&payload, at, authors)),
        ("response_item", "function_call" | "custom_tool_call" | "local_shell_call") => {
            entries.push(call(&payload, at))
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => {
            entries.extend(output(payload, at))
        }
        ("event_msg", "item_completed") => {
            facts.session = facts.session.take().or_else(|| payload.thread_id.owned());
            if let Some(item) = read_json::part::<Item<'_>>(payload.item) {
                add_item(item, at, authors, entries);
            }
        }
        ("event_msg", "user_message") => {
            let text = payload.message.into_text().unwrap_or_default();
            entries.push(Entry::user(text, at, authors));
        }
        ("event_msg", "agent_message") => entries.push(Entry::Assistant {
            text: payload.message.into_text().unwrap_or_default(),
            at,
        }),
        ("event_msg", "turn_aborted") => entries.push(Entry::Interrupted { at }),
        ("event_msg", "exec_command_end" | "patch_apply_end") => {
            if let Some(item) = read_json::part::<Item<'_>>(line.payload) {
                add_item(item, at, authors, entries);
            }
        }
        _ => {}
    }
}

fn message<'a>(payload: &Payload<'a>, at: Timestamp, authors: &Authors<'_>) -> Option<Entry<'a>> {
    let text = read_json::plain(payload.content);
    match payload.role.text() {
        "assistant" => Some(Entry::Assistant { text, at }),
        "user" => {
            let by_text = authors.origin(&text, false);
            let origin = match (by_text, wrote_user(payload.metadata)) {
                (PromptOrigin::Own, _) => PromptOrigin::Own,
                (_, Some(true)) => PromptOrigin::User,
                (_, Some(false)) => PromptOrigin::Host,
                (origin, None) => origin,
            };
            Some(Entry::User { text, at, origin })
        }
        _ => None,
    }
}

/// Returns whether the provenance of a message says that a user wrote it; none if it has no provenance.
fn wrote_user(metadata: Option<&RawValue>) -> Option<bool> {
    #[derive(Deserialize)]
    struct Metadata {
        content_item_metadata: Vec<Value>,
    }
    let metadata = read_json::part::<Metadata>(metadata)?;
    let mut types = metadata
        .content_item_metadata
        .iter()
        .filter_map(|part| part.pointer("/provenance/type"))
        .peekable();
    types.peek()?;
    Some(types.any(|kind| kind == "user"))
}

fn call<'a>(payload: &Payload<'a>, at: Timestamp) -> Entry<'a> {
    let (tool, input) = match payload.kind.text() {
        "local_shell_call" => ("local_shell", read_json::value(payload.action)),
        "custom_tool_call" => (payload.name.text(), Value::from(payload.input.text())),
        _ => {
            let arguments = payload.arguments.text();
            (
                payload.name.text(),
                serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments)),
            )
        }
    };
    Entry::Call {
        call: normal::begun(&TOOLS, payload.call_id.text(), tool, &input, at),
        is_echo: false,
        task: task_in(&input).or_else(|| script::cell_in(&input)),
    }
}

fn output<'a>(payload: Payload<'a>, at: Timestamp) -> Option<Entry<'a>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Output<'a> {
        #[serde(borrow)]
        success: Scalar<'a>,
        content: Option<&'a RawValue>,
    }
    let is_object = payload
        .output
        .is_some_and(|output| output.get().starts_with('{'));
    let object = if is_object {
        read_json::part::<Output<'_>>(payload.output)
    } else {
        None
    };
    let (is_error, raw) = match object {
        Some(object) => (
            object.success.flag().map(|success| !success),
            object.content,
        ),
        None => (None, payload.output),
    };
    let text = read_json::plain(raw);
    let result = results::result(&text).unwrap_or_else(|| ResultText {
        is_error,
        task: session_in(&text).map(|id| Cow::Owned(id.to_owned())),
        text,
        ..ResultText::default()
    });
    Entry::result(payload.call_id, result, at)
}
