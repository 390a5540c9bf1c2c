//! Kimi Code. Its transcripts are one JSON object a line, in
//! `~/.kimi-code/sessions/<folder>/<session>/agents/main/wire.jsonl`. Messages are `context.append_message`, what the
//! model says and does `context.append_loop_event`; the lines around them repeat it.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ReplyForm, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, TranscriptPlace};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::text_box::{framed, numbered_paste};
use crate::tools::{Frame, ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::{self, Scalar};
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
        "Interrupt" => Event::Interrupted {
            host,
            cause: "user".into(),
        },
        _ => common::event(hook, host, payload, tools),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    time: Scalar<'a>,
    message: Option<Message<'a>>,
    event: Option<Step<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    content: Option<&'a RawValue>,
    origin: Option<Origin<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Step<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    part: Option<&'a RawValue>,
    tool_call_id: Scalar<'a>,
    name: Scalar<'a>,
    args: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    is_error: Scalar<'a>,
    duration_ms: Scalar<'a>,
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line: Line<'_> = serde_json::from_str(text)?;
    let at = line.time.millis().unwrap_or_default();
    Ok(match (line.kind.text(), line.message, line.event) {
        (MESSAGE, Some(message), _) if message.role.text() == "user" => {
            let text = json::plain(message.content);
            let origin = message.origin.as_ref().map(|origin| origin.kind.text());
            let user = Entry::user_of(text, at, reader.authors, origin == Some("user"));
            reader.entries.push(user);
            Read::Own { may_begin: true }
        }
        (STEP, _, Some(step)) => match entry(step, at) {
            Some(entry) => {
                reader.entries.push(entry);
                Read::Own { may_begin: false }
            }
            None => Read::Nothing,
        },
        _ => Read::Nothing,
    })
}

fn entry(step: Step<'_>, at: Timestamp) -> Option<Entry<'_>> {
    match step.kind.text() {
        "content.part" => Some(Entry::Assistant {
            text: json::plain(step.part),
            at,
        }),
        "tool.call" => Some(Entry::call(
            &TOOLS,
            &step.tool_call_id,
            &step.name,
            step.args,
            at,
        )),
        "tool.result" => {
            let ended: Ended<'_> = json::part(step.result)?;
            let text = json::plain(ended.output);
            let took = ended.duration_ms.number();
            Some(Entry::Result {
                id: step.tool_call_id.into_text()?,
                result: ResultText::of(Some(ended.is_error.is_true()), text),
                at,
                duration_ms: took.and_then(|took| u64::try_from(took).ok()),
            })
        }
        _ => None,
    }
}
