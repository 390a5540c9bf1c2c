//! Kimi Code. Its transcripts are one JSON object a line, in
//! `~/.kimi-code/sessions/<folder>/<session>/agents/main/wire.jsonl`. Messages are `context.append_message`, what the
//! model says and does `context.append_loop_event`; the lines around them repeat it.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ReplyForm, Timestamp};
use serde_json::Value;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, TranscriptPlace};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::text_box::{framed, numbered_paste};
use crate::tools::{Frame, ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

const MESSAGE: &str = "context.append_message";
const STEP: &str = "context.append_loop_event";

pub(super) const KIMI: Adapter = Adapter {
    agent: Agent::Kimi,
    program: "kimi",
    event,
    // It continues once in a turn.
    may_continue: |payload| payload.get("stop_hook_active").and_then(Value::as_bool) != Some(true),
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    // Its hooks do not report the transcript's path.
    transcript_place: Some(TranscriptPlace::InFolder {
        folder: "sessions",
        file: "agents/main/wire.jsonl",
    }),
    library: Library::of(
        "KIMI_CODE_HOME",
        ".kimi-code",
        &["sessions/*/*/agents/main/wire.jsonl"],
    ),
    reply_form: ReplyForm::Permission,
    // It calls no prompt hook for it, and no second stop hook.
    takes_silently: true,
    hears_start: false,
    composer: Some(ComposerForm {
        // Behind `! ` it takes shell commands.
        find: |rows, view| framed(rows, view, '>'),
        stands_for: numbered_paste,
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("kimi");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    frame: |result| Frame::of_last_line(result, "Command failed with exit code: ", "."),
    ..Tools::PLAIN
};

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        "UserPromptSubmit" => {
            // A message that is typed while it works belongs to the turn.
            let is_added = payload.get("is_steer").and_then(Value::as_bool) == Some(true);
            payload.prompt_of(host, !is_added)
        }
        "Interrupt" => common::interrupted(host, "user"),
        _ => common::event(hook, host, payload, tools),
    }
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let at = line.millis("time").unwrap_or_default();
    let message = line.object("message");
    let kind = line.word("type");
    if kind == MESSAGE && message.word("role") == "user" {
        let is_persons = message.object("origin").word("kind") == "user";
        let text = message.plain("content");
        let user = Entry::user_of(text, at, reader.authors, is_persons);
        reader.entries.push(user);
        return Ok(Read::Own { may_begin: true });
    }
    let step = line.object("event");
    Ok(match entry(&step, at).filter(|_| kind == STEP) {
        Some(entry) => {
            reader.entries.push(entry);
            Read::Own { may_begin: false }
        }
        None => Read::Nothing,
    })
}

fn entry<'a>(step: &Object<'a>, at: Timestamp) -> Option<Entry<'a>> {
    match &*step.word("type") {
        "content.part" => Entry::said(Some(step.plain("part")), at),
        "tool.call" => Some(Entry::call(
            &TOOLS,
            step,
            ["toolCallId", "name", "args"],
            at,
        )),
        "tool.result" => {
            let ended: Object<'_> = step.part("result")?;
            let is_error = ended.is_true("isError");
            Some(Entry::Result {
                id: step.text("toolCallId")?,
                result: ResultText::of(Some(is_error), ended.plain("output")),
                at,
                duration_ms: ended.count("durationMs"),
            })
        }
        _ => None,
    }
}
