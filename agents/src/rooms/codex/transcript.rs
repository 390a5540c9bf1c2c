//! Codex CLI: a rollout, one `{timestamp, type, payload}` a line, in `~/.codex/sessions/YYYY/MM/DD`.
//!
//! A tool use has up to three records: what the model asked (`response_item` call), what was run (`event_msg` item), and
//! what the model got back (`response_item` output). Older rollouts have no items, newer ones may lack the call. A real
//! user message is a `UserMessage` item, in older rollouts a `user_message` event; the `response_item` form counts only
//! if its provenance, or its text, says that a user wrote it.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde_json::Value;

use super::items::add_item;
use super::tools::{KNOWN, TOOLS, session_in};
use super::{results, script};
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Read, Reader};
use crate::transcript::json::{self, Object};
use crate::transcript::normal::{self, Entry};
use crate::transcript::outputs::task_in;
use crate::transcript::tail::Tail;

/// A line that is read.
struct Line<'a> {
    at: Timestamp,
    kind: Cow<'a, str>,
    payload: Object<'a>,
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
    if let Some(Ok(Some(line))) = tail.first_line().map(parsed) {
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
    let line = Object::read(text)?;
    let kind = line.word("type");
    let payload = line.part("payload");
    let is_known = KNOWN.line_types.iter().any(|it| *it == kind);
    Ok(payload.filter(|_| is_known).map(|payload| Line {
        at: line.time("timestamp"),
        kind,
        payload,
    }))
}

/// Returns whether a line begins the rollout of a subagent.
fn is_subagent(line: &Line<'_>) -> bool {
    let source = line.payload.get("source");
    line.kind == "session_meta"
        && source.is_some_and(|source| source.get().contains("\"subagent\""))
}

fn is_task_mark(line: &Line<'_>) -> bool {
    let kind = line.payload.word("type");
    line.kind == "event_msg" && KNOWN.task_marks.iter().any(|it| *it == kind)
}

fn note_place(line: &Line<'_>, facts: &mut Facts) {
    let is_session = line.kind == "session_meta";
    if !is_session && line.kind != "turn_context" {
        return;
    }
    let place = &line.payload;
    facts.cwd = facts.cwd.take().or_else(|| place.owned("cwd"));
    if is_session {
        facts.session = place.owned("id").or(facts.session.take());
        facts.host_version = place.owned("cli_version");
        facts.branch = place.object("git").owned("branch");
        facts.headless = place.word("source") == "exec";
    }
}

fn add_entries<'a>(
    line: &Line<'a>,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) {
    let (at, payload) = (line.at, &line.payload);
    match (&*line.kind, &*payload.word("type")) {
        ("response_item", "message") => entries.extend(message(payload, at, authors)),
        ("response_item", "function_call" | "custom_tool_call" | "local_shell_call") => {
            entries.push(call(payload, at))
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => {
            entries.extend(output(payload, at))
        }
        ("event_msg", "item_completed") => {
            facts.session = facts.session.take().or_else(|| payload.owned("thread_id"));
            add_item(&payload.object("item"), at, authors, entries);
        }
        ("event_msg", "user_message") => {
            entries.push(Entry::user(payload.word("message"), at, authors));
        }
        ("event_msg", "agent_message") => {
            entries.extend(Entry::said(Some(payload.word("message")), at));
        }
        ("event_msg", "turn_aborted") => entries.push(Entry::Interrupted { at }),
        ("event_msg", "exec_command_end" | "patch_apply_end") => {
            add_item(payload, at, authors, entries);
        }
        _ => {}
    }
}

fn message<'a>(payload: &Object<'a>, at: Timestamp, authors: &Authors<'_>) -> Option<Entry<'a>> {
    let text = payload.plain("content");
    match &*payload.word("role") {
        "assistant" => Some(Entry::Assistant { text, at }),
        "user" => {
            let by_text = authors.origin(&text, false);
            let origin = match (by_text, wrote_user(payload)) {
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
fn wrote_user(message: &Object<'_>) -> Option<bool> {
    let metadata = message.object("internal_chat_message_metadata_passthrough");
    let parts: Vec<Value> = metadata.part("content_item_metadata")?;
    let types = parts.iter();
    let mut types = types
        .filter_map(|part| part.pointer("/provenance/type"))
        .peekable();
    types.peek()?;
    Some(types.any(|kind| kind == "user"))
}

fn call<'a>(payload: &Object<'a>, at: Timestamp) -> Entry<'a> {
    let name = payload.word("name");
    let (tool, input) = match &*payload.word("type") {
        "local_shell_call" => ("local_shell", payload.value("action")),
        "custom_tool_call" => (&*name, Value::from(payload.word("input"))),
        _ => {
            let arguments = payload.word("arguments");
            let read = serde_json::from_str(&arguments);
            (&*name, read.unwrap_or_else(|_| Value::from(arguments)))
        }
    };
    Entry::Call {
        call: normal::begun(&TOOLS, &payload.word("call_id"), tool, &input, at),
        is_echo: false,
        task: task_in(&input).or_else(|| script::cell_in(&input)),
    }
}

fn output<'a>(payload: &Object<'a>, at: Timestamp) -> Option<Entry<'a>> {
    let (is_error, raw) = match payload.part::<Object<'_>>("output") {
        Some(object) => {
            let success = object.flag("success");
            (success.map(|success| !success), object.get("content"))
        }
        None => (None, payload.get("output")),
    };
    let text = json::plain(raw);
    let result = results::result(&text).unwrap_or_else(|| ResultText {
        is_error,
        task: session_in(&text).map(|id| Cow::Owned(id.to_owned())),
        text,
        ..ResultText::default()
    });
    Entry::result(payload.text("call_id"), result, at)
}
