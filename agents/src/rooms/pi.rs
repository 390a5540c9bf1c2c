//! Pi. Its transcripts are one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, numbered_paste};
use crate::tools::{Frame, ResultText, Tools, flag, plain};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::{self, Block, Scalar};
use crate::transcript::normal::Entry;

/// Its plugin calls hooks by Claude Code's names, and gives commands the session's id.
pub(super) const PI: Adapter = Adapter {
    agent: Agent::Pi,
    program: "pi",
    event,
    variables: Variables {
        session: Some("CHECKPOINTD_PI_SESSION"),
        ..Variables::NONE
    },
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of("PI_CODING_AGENT_DIR", ".pi/agent", &["sessions/*/*.jsonl"]),
    hears_start: false,
    composer: Some(ComposerForm {
        find: composer,
        stands_for: numbered_paste,
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("pi");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response: |_, response| ResultText::of(Some(flag(response) == Some(true)), plain(response)),
    frame: |result| Frame::of_last_line(result, "Command exited with code ", ""),
    ..Tools::PLAIN
};

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        "Interrupt" => payload.interrupted(host),
        _ => common::event(hook, host, payload, tools),
    }
}

/// Finds text without a marker between two rules. The upper one may say how many lines are above it.
fn composer<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (_, row) = view.cursor;
    let is_edge = |at: &usize| rows[*at].text.starts_with("───");
    let below = (row + 1..rows.len()).find(is_edge)?;
    let above = (0..row).rev().find(is_edge)?;
    let lines = &rows[above + 1..below];
    // A rule of a text above the composer would leave the cursor on one.
    let is_inside = !is_edge(&row);
    is_inside.then(|| TextBox::new(lines, 0, false, &[]))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    id: Scalar<'a>,
    cwd: Scalar<'a>,
    timestamp: Scalar<'a>,
    message: Option<Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    content: Option<&'a RawValue>,
    tool_call_id: Scalar<'a>,
    is_error: Scalar<'a>,
    stop_reason: Scalar<'a>,
    timestamp: Scalar<'a>,
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line: Line<'_> = serde_json::from_str(text)?;
    Ok(match (line.kind.text(), line.message) {
        ("session", _) => {
            reader.facts.session = line.id.owned();
            reader.facts.cwd = line.cwd.owned();
            Read::Own { may_begin: false }
        }
        // Factory droid's messages are like these, without a time of their own.
        ("message", Some(message)) if message.timestamp.number().is_some() => {
            add(message, line.timestamp.time(), reader)
        }
        _ => Read::Nothing,
    })
}

fn add<'a>(message: Message<'a>, at: Timestamp, reader: &mut Reader<'a, '_>) -> Read {
    match (message.role.text(), message.tool_call_id) {
        ("user", _) => {
            reader.user(json::plain(message.content), at);
            return Read::Own { may_begin: true };
        }
        ("assistant", _) => {
            let parts: Vec<Block<'_>> = json::part(message.content).unwrap_or_default();
            let said = parts.into_iter().filter_map(|part| said(part, at));
            reader.entries.extend(said);
            if message.stop_reason.text() == "aborted" {
                reader.entries.push(Entry::Interrupted { at });
            }
        }
        ("toolResult", id @ Scalar::Text(_)) => {
            let result = ResultText::of(message.is_error.flag(), json::plain(message.content));
            reader.entries.extend(Entry::result(id, result, at));
        }
        _ => return Read::Nothing,
    }
    Read::Own { may_begin: false }
}

fn said(part: Block<'_>, at: Timestamp) -> Option<Entry<'_>> {
    match part.kind.text() {
        "toolCall" => Some(Entry::call(&TOOLS, &part.id, &part.name, part.input, at)),
        "text" => Entry::said(part.text, at),
        _ => None,
    }
}
