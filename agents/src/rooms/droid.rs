//! Factory droid. Its transcripts are one JSON object a line, `{type, id, parentId, timestamp, message}`, in
//! `~/.factory/sessions/<folder>/<session>.jsonl`. The runs of hooks are messages without content.

use std::sync::LazyLock;

use journal::{Agent, Timestamp};
use serde::Deserialize;

use crate::adapter::{Adapter, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::known::{Known, known};
use crate::prompts::Authors;
use crate::tools::{Frame, ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::{self, Block, Scalar};
use crate::transcript::normal::Entry;

/// Its screens are not recorded. Its reminders are like Claude Code's, and our text arrives as it was sent.
pub(super) const DROID: Adapter = Adapter {
    agent: Agent::Droid,
    program: "droid",
    event: common::event_or_notification,
    variables: Variables {
        project: Some("FACTORY_PROJECT_DIR"),
        ..Variables::NONE
    },
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
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    content: Vec<Block<'a>>,
    timestamp: Scalar<'a>,
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line: Line<'_> = serde_json::from_str(text)?;
    Ok(match (line.kind.text(), line.message) {
        ("session_start", _) => {
            reader.facts.session = line.id.owned();
            reader.facts.cwd = line.cwd.owned();
            Read::Own { may_begin: false }
        }
        // Pi's messages are like these, with a time of their own.
        ("message", Some(message)) if message.timestamp.number().is_none() => {
            let (at, authors) = (line.timestamp.time(), reader.authors);
            let is_users = message.role.text() == "user";
            let known = reader.entries.len();
            let entries = message.content.into_iter();
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
    part: Block<'a>,
    is_users: bool,
    at: Timestamp,
    authors: &Authors<'_>,
) -> Option<Entry<'a>> {
    match part.kind.text() {
        "text" if is_users => Some(Entry::user(part.text.into_text()?, at, authors)),
        "text" => Entry::said(part.text, at),
        "tool_use" => Some(Entry::call(&TOOLS, &part.id, &part.name, part.input, at)),
        "tool_result" => {
            let result = ResultText::of(part.is_error.flag(), json::plain(part.content));
            Entry::result(part.tool_use_id, result, at)
        }
        _ => None,
    }
}
