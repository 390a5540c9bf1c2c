//! Pi. Its transcripts are one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, Timestamp};

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, numbered_paste};
use crate::tools::{Frame, ResultText, Tools, flag, plain};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// Its plugin calls hooks by Claude Code's names, and gives commands the session's id.
pub(super) const PI: Adapter = Adapter {
    agent: Agent::Pi,
    program: "pi",
    event,
    variables: Variables::session("CHECKPOINTD_PI_SESSION"),
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

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let message = line.object("message");
    Ok(match &*line.word("type") {
        "session" => {
            reader.facts.session = line.owned("id");
            reader.facts.cwd = line.owned("cwd");
            Read::Own { may_begin: false }
        }
        // Factory droid's messages are like these, without a time of their own.
        "message" if message.number("timestamp").is_some() => {
            add(&message, line.time("timestamp"), reader)
        }
        _ => Read::Nothing,
    })
}

fn add<'a>(message: &Object<'a>, at: Timestamp, reader: &mut Reader<'a, '_>) -> Read {
    match (&*message.word("role"), message.text("toolCallId")) {
        ("user", _) => {
            reader.user(message.plain("content"), at);
            return Read::Own { may_begin: true };
        }
        ("assistant", _) => {
            let parts = message.objects("content");
            let said = parts.iter().filter_map(|part| said(part, at));
            reader.entries.extend(said);
            if message.word("stopReason") == "aborted" {
                reader.entries.push(Entry::Interrupted { at });
            }
        }
        ("toolResult", Some(id)) => {
            let result = ResultText::of(message.flag("isError"), message.plain("content"));
            reader.entries.extend(Entry::result(Some(id), result, at));
        }
        _ => return Read::Nothing,
    }
    Read::Own { may_begin: false }
}

fn said<'a>(part: &Object<'a>, at: Timestamp) -> Option<Entry<'a>> {
    match &*part.word("type") {
        "toolCall" => Some(Entry::call(&TOOLS, part, ["id", "name", "arguments"], at)),
        "text" => Entry::said(part.text("text"), at),
        _ => None,
    }
}
