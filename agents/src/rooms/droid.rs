//! Factory droid. Its transcripts are one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.factory/sessions/<folder>/<session>.jsonl`. The runs of hooks are messages without content.

use std::sync::LazyLock;

use journal::{Agent, Timestamp};

use crate::adapter::{Adapter, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::known::{Known, known};
use crate::prompts::Authors;
use crate::tools::{Frame, ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// Its screens are not recorded. Its reminders are like Claude Code's, and our text arrives as it was sent.
pub(super) const DROID: Adapter = Adapter {
    agent: Agent::Droid,
    program: "droid",
    event: common::event_or_notification,
    variables: Variables::project("FACTORY_PROJECT_DIR"),
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of("FACTORY_HOME_OVERRIDE", ".factory", &["sessions/*/*.jsonl"]),
    // `droid exec` calls no prompt hook.
    omits_prompts: true,
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("droid");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    // After a call that failed no hook is called.
    frame: |result| Frame::of_last_line(result, "[Process exited with code ", "]"),
    ..Tools::PLAIN
};

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let message = line.object("message");
    Ok(match &*line.word("type") {
        "session_start" => {
            reader.facts.session = line.owned("id");
            reader.facts.cwd = line.owned("cwd");
            Read::Own { may_begin: false }
        }
        // Pi's messages are like these, with a time of their own.
        "message" if message.number("timestamp").is_none() => {
            let (at, authors) = (line.time("timestamp"), reader.authors);
            let is_users = message.word("role") == "user";
            let known = reader.entries.len();
            let parts = message.objects("content");
            let entries = parts.iter();
            let entries = entries.filter_map(|part| entry(part, is_users, at, authors));
            reader.entries.extend(entries);
            if reader.entries.len() == known {
                return Ok(Read::Nothing);
            }
            Read::Own {
                may_begin: is_users,
            }
        }
        _ => Read::Nothing,
    })
}

fn entry<'a>(
    part: &Object<'a>,
    is_users: bool,
    at: Timestamp,
    authors: &Authors<'_>,
) -> Option<Entry<'a>> {
    match &*part.word("type") {
        "text" if is_users => Some(Entry::user(part.text("text")?, at, authors)),
        "text" => Entry::said(part.text("text"), at),
        "tool_use" => Some(Entry::call(&TOOLS, part, ["id", "name", "input"], at)),
        "tool_result" => {
            let result = ResultText::of(part.flag("is_error"), part.plain("content"));
            Entry::result(part.text("tool_use_id"), result, at)
        }
        _ => None,
    }
}
