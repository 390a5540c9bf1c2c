//! Qwen Code. Its transcripts are one JSON object a line, in `~/.qwen/projects/<folder>/chats/<session>.jsonl`.
//! `provenance` says who wrote a line; in lines without it, the text does. The text of a stop hook is not written.

use std::sync::LazyLock;

use journal::{Agent, Event, Host};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::gemini::{Part, answer};
use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Notifications, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::text_box::between_rules;
use crate::tools::{ResultText, Tools, labeled, plain};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::Entry;

/// The mark of a line that a person typed while the agent worked.
const MID_TURN: &str = "mid_turn_user_message";

/// Its hooks have Claude Code's names, with differences. Our text arrives as it was sent, and notices of finished tasks
/// are like Claude Code's.
pub(super) const QWEN: Adapter = Adapter {
    agent: Agent::Qwen,
    program: "qwen",
    fields: |_| &KNOWN.fields,
    event,
    notifications: Notifications {
        dialog: Some("permission_prompt"),
        idle: Some("idle_prompt"),
    },
    // Only subagents are listed, and each tells when it is done.
    task_returns: Some(|_| Some(true)),
    variables: Variables {
        session: Some("QWEN_CODE_SESSION_ID"),
        project: Some("QWEN_PROJECT_DIR"),
        pid: None,
    },
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of("QWEN_HOME", ".qwen", &["projects/*/chats/*.jsonl"]),
    composer: Some(ComposerForm {
        // `* text` if it asks for no permission (`--approval-mode yolo`). Behind `! ` it takes shell commands.
        find: |rows, view| between_rules(rows, view, &['>', '*'], &["Type your message"]),
        stands_for: |shown, pasted| {
            shown == format!("[Pasted Content {} chars]", pasted.chars().count())
        },
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("qwen");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    // A failing call has an event of its own.
    response: |_, response| {
        let text = plain(response.get("llmContent").unwrap_or(response));
        ResultText::of(Some(false), text)
    },
    frame: labeled::frame,
    ..Tools::PLAIN
};

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    let mut event = match hook {
        // Qwen Code calls this hook before each call of the model. Only what a person sent has `submitted_prompt`; our
        // text and that of other hooks come without, and after a tool's result there is no text at all.
        "UserPromptSubmit" if payload.text("prompt").unwrap_or_default().is_empty() => {
            Event::ModelStepped { host }
        }
        "UserPromptSubmit" => payload.prompt_of(host, payload.text("submitted_prompt").is_some()),
        "MessageDisplay" => Event::ModelStepped { host },
        _ => common::event_or_notification(hook, host, payload, tools),
    };
    if let Event::ToolStarted { call, .. }
    | Event::ToolFinished { call, .. }
    | Event::ToolFailed { call, .. } = &mut event
    {
        // The hook's own id of the call is made up; the transcript has the model's.
        let id = payload.text("tool_call_id").map(str::to_owned);
        call.id = id.or(call.id.take());
    }
    event
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    subtype: Scalar<'a>,
    provenance: Scalar<'a>,
    uuid: Scalar<'a>,
    session_id: Scalar<'a>,
    timestamp: Scalar<'a>,
    cwd: Scalar<'a>,
    git_branch: Scalar<'a>,
    version: Scalar<'a>,
    message: Option<Message<'a>>,
    tool_call_result: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    status: Scalar<'a>,
    result_display: Option<&'a RawValue>,
}

/// How a command ended.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Display<'a> {
    #[serde(borrow)]
    exit_code: Scalar<'a>,
    output: Scalar<'a>,
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line: Line<'_> = serde_json::from_str(text)?;
    // Claude Code's lines have no parts.
    let is_own = matches!(line.kind.text(), "user" | "assistant" | "tool_result")
        && !line.session_id.text().is_empty()
        && !line.uuid.text().is_empty()
        && line.message.as_ref().is_some_and(|it| !it.parts.is_empty());
    if !is_own {
        return Ok(Read::Nothing);
    }
    reader.place([&line.session_id, &line.cwd, &line.git_branch, &line.version]);
    let may_begin = line.kind.text() == "user" && line.subtype.text() != MID_TURN;
    add_entries(line, reader);
    Ok(Read::Own { may_begin })
}

fn add_entries<'a>(mut line: Line<'a>, reader: &mut Reader<'a, '_>) {
    let at = line.timestamp.time();
    let parts = line.message.take().map(|it| it.parts).unwrap_or_default();
    match line.kind.text() {
        "user" => {
            let texts: Vec<&str> = parts.iter().map(|part| part.text.text()).collect();
            let text = texts.join("\n").into();
            let is_persons = matches!(line.provenance.text(), "" | "real_user");
            let user = Entry::user_of(text, at, reader.authors, is_persons);
            reader.entries.push(user);
        }
        "assistant" => {
            let said = parts
                .into_iter()
                .filter_map(|part| match part.function_call {
                    Some(call) => Some(Entry::call(&TOOLS, &call.id, &call.name, call.args, at)),
                    None if part.thought.is_true() => None,
                    None => Entry::said(part.text, at),
                });
            reader.entries.extend(said);
        }
        _ => {
            let ended: CallResult<'_> = json::part(line.tool_call_result).unwrap_or_default();
            let responses = parts.into_iter().filter_map(|part| part.function_response);
            reader.entries.extend(responses.filter_map(|response| {
                Entry::result(response.id, result(&ended, response.response), at)
            }));
        }
    }
}

fn result<'a>(ended: &CallResult<'a>, response: Option<&'a RawValue>) -> ResultText<'a> {
    let display: Option<Display<'_>> = json::part(ended.result_display);
    let exit_code = display.as_ref().and_then(|it| it.exit_code.number());
    let answer = answer(response);
    // With a code of its own, a command's text is what the command printed.
    let text = match (exit_code, display.map(|it| it.output)) {
        (Some(_), Some(Scalar::Text(output))) => output,
        _ => answer.text,
    };
    ResultText {
        is_error: match ended.status.text() {
            "success" => Some(false),
            "error" => Some(true),
            _ => Some(answer.is_error == Some(true)),
        },
        refused: ended.status.text() == "cancelled",
        exit_code,
        text,
        ..ResultText::default()
    }
}
