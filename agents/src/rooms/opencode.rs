//! opencode. Its transcripts are rows of a database, `~/.local/share/opencode/opencode.db`. A message and its parts become
//! one line, `{session, version, cwd, at, message, parts}`. A part of a tool holds the call and its result.

use std::borrow::Cow;
use std::sync::LazyLock;

use journal::{Agent, Event, Host, Timestamp};
use serde_json::Value;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Database, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, begins};
use crate::tools::{ResultText, Tools, plain};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// Its plugin calls hooks by Claude Code's names, gives commands the session's id, and leaves out what opencode adds to a
/// message.
pub(super) const OPENCODE: Adapter = Adapter {
    agent: Agent::OpenCode,
    program: "opencode",
    event,
    may_continue: |payload| payload.get("can_continue").and_then(Value::as_bool) != Some(false),
    variables: Variables::session("CHECKPOINTD_OPENCODE_SESSION"),
    tools: &TOOLS,
    // All lines have it.
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of("XDG_DATA_HOME", ".local/share", &["opencode/opencode*.db"]),
    // Subagents have sessions of their own, with a parent.
    database: Some(Database {
        sessions: "SELECT id, time_updated, \
                (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = session.id) \
            FROM session WHERE parent_id IS NULL",
        // Without `json` around it, the list of parts would be a string.
        lines: "SELECT json_object('session', s.id, 'version', s.version, 'cwd', s.directory, 'at', m.time_created, \
                'message', json(m.data), 'parts', json((SELECT json_group_array(json(p.data)) \
                    FROM (SELECT data FROM part WHERE message_id = m.id ORDER BY id) AS p))) \
            FROM message AS m JOIN session AS s ON s.id = m.session_id \
            WHERE m.session_id = ?1 ORDER BY m.time_created, m.id",
    }),
    hears_start: false,
    composer: Some(ComposerForm {
        find: composer,
        stands_for: |shown, pasted| shown == format!("[Pasted ~{} lines]", pasted.lines().count()),
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("opencode");

pub(super) const TOOLS: Tools = Tools {
    known: || &KNOWN,
    // The exit code of a command has a field, and the text is the program's own.
    response: |_, response| ResultText {
        exit_code: response.get("exit").and_then(Value::as_i64),
        text: plain(response),
        ..ResultText::default()
    },
    ..Tools::PLAIN
};

/// The id of a subagent's session is the subagent's.
fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        // A subagent that fails leaves the agent at work.
        "Interrupt" if host.subagent.is_none() => payload.interrupted(host),
        "Stop" if host.subagent.is_some() => Event::OtherHook { host },
        _ => common::event(hook, host, payload, tools),
    }
}

/// The bar that all rows of the composer begin with, and the column of the text behind it.
const BAR: char = '┃';
const START: usize = 5;

/// Finds rows behind `┃`, above an edge of `▀`. The last of them names the agent and the model, and the text has an empty
/// row above it and below it.
fn composer<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let edge = (row..rows.len()).find(|at| !begins(rows, *at, BAR))?;
    let above = (0..row).rev().find(|at| !begins(rows, *at, BAR));
    let (first, end) = (above.map_or(0, |at| at + 1) + 1, edge.checked_sub(2)?);
    let is_inside =
        begins(rows, row, BAR) && begins(rows, edge, '╹') && (first..end).contains(&row);
    let is_bare = |row: &Row| row.text.trim() == BAR.to_string();
    if !is_inside || column < START || !is_bare(&rows[first - 1]) || !is_bare(&rows[end]) {
        return None;
    }
    let at_start = view.cursor == (START, first);
    let lines = &rows[first..end];
    Some(TextBox::new(lines, START, at_start, &["Ask anything"]))
}

/// Reads one message.
fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let Some(message) = line.part::<Object<'_>>("message") else {
        return Ok(Read::Nothing);
    };
    reader.facts.session = line.owned("session");
    reader.facts.host_version = line.owned("version");
    reader.facts.cwd = line.owned("cwd");
    let at = line.millis("at").unwrap_or_default();
    let parts = line.objects("parts");
    Ok(match &*message.word("role") {
        "user" => {
            // opencode adds texts of its own to a message.
            let is_typed =
                |part: &&Object<'_>| part.word("type") == "text" && !part.is_true("synthetic");
            let typed = parts.iter().filter(is_typed);
            let texts: Vec<Cow<'_, str>> = typed.filter_map(|part| part.text("text")).collect();
            let text: Cow<'_, str> = match texts.as_slice() {
                [] => return Ok(Read::Own { may_begin: false }),
                [one] => one.clone(),
                several => several.join("\n").into(),
            };
            reader.user(text, at);
            Read::Own { may_begin: true }
        }
        "assistant" => {
            for part in &parts {
                add(part, at, &mut reader.entries);
            }
            if message.object("error").word("name") == "MessageAbortedError" {
                let ended = message.object("time").millis("completed");
                let at = ended.unwrap_or(at);
                reader.entries.push(Entry::Interrupted { at });
            }
            Read::Own { may_begin: false }
        }
        _ => Read::Nothing,
    })
}

fn add<'a>(part: &Object<'a>, at: Timestamp, entries: &mut Vec<Entry<'a>>) {
    match (&*part.word("type"), part.part::<Object<'_>>("state")) {
        ("text", _) => {
            let ended = part.object("time").millis("end");
            entries.extend(Entry::said(part.text("text"), ended.unwrap_or(at)));
        }
        ("tool", Some(state)) => {
            let times = state.object("time");
            let began = times.millis("start").unwrap_or(at);
            let (id, tool) = (part.word("callID"), part.word("tool"));
            entries.push(Entry::begun(
                &TOOLS,
                &id,
                &tool,
                &state.value("input"),
                began,
            ));
            let status = state.word("status");
            let is_error = status == "error";
            if !id.is_empty() && (is_error || status == "completed") {
                let ended = times.millis("end");
                let took = ended.map(|ended| ended.since(began).as_millis());
                let text = state.plain(if is_error { "error" } else { "output" });
                entries.push(Entry::Result {
                    id,
                    result: ResultText {
                        exit_code: state.object("metadata").number("exit"),
                        ..ResultText::of(is_error.then_some(true), text)
                    },
                    at: ended.unwrap_or(began),
                    duration_ms: took.and_then(|took| u64::try_from(took).ok()),
                });
            }
        }
        _ => {}
    }
}
