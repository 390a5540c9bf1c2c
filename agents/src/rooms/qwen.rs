//! Qwen Code. Its transcripts are one JSON object a line, in `~/.qwen/projects/<folder>/chats/<session>.jsonl`.
//! `provenance` says who wrote a line; in lines without it, the text does. The text of a stop hook is not written.

use std::sync::LazyLock;

use journal::{Agent, Event, Host};

use super::claude::CLAUDE;
use super::gemini::{RESPONSE, answer};
use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::terminal::text_box::between_rules;
use crate::tools::{ResultText, Tools, labeled, plain};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// The mark of a line that a person typed while the agent worked.
const MID_TURN: &str = "mid_turn_user_message";

/// Its hooks have Claude Code's names, with differences. Our text arrives as it was sent, and notices of finished tasks
/// are like Claude Code's.
pub(super) const QWEN: Adapter = Adapter {
    agent: Agent::Qwen,
    program: "qwen",
    event,
    notifications: CLAUDE.notifications,
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

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let kind = line.word("type");
    let parts = line.object("message").objects("parts");
    // Claude Code's lines have no parts.
    let is_own = matches!(&*kind, "user" | "assistant" | "tool_result")
        && !line.word("sessionId").is_empty()
        && !line.word("uuid").is_empty()
        && !parts.is_empty();
    if !is_own {
        return Ok(Read::Nothing);
    }
    reader.place(&line);
    let at = line.time("timestamp");
    match &*kind {
        "user" => {
            let texts: Vec<_> = parts.iter().map(|part| part.word("text")).collect();
            let is_persons = matches!(&*line.word("provenance"), "" | "real_user");
            let text = texts.join("\n").into();
            let user = Entry::user_of(text, at, reader.authors, is_persons);
            reader.entries.push(user);
        }
        "assistant" => {
            let said = parts.iter().filter_map(|part| {
                let call = part.part::<Object<'_>>("functionCall");
                match call {
                    Some(call) => Some(Entry::call(&TOOLS, &call, ["id", "name", "args"], at)),
                    None if part.is_true("thought") => None,
                    None => Entry::said(part.text("text"), at),
                }
            });
            reader.entries.extend(said);
        }
        _ => {
            let ended = line.object("toolCallResult");
            let responses = parts.iter().filter_map(|part| part.part(RESPONSE));
            let results = responses.filter_map(|response: Object<'_>| {
                Entry::result(response.text("id"), result(&ended, &response), at)
            });
            reader.entries.extend(results);
        }
    }
    let may_begin = kind == "user" && line.word("subtype") != MID_TURN;
    Ok(Read::Own { may_begin })
}

/// Returns how a command ended.
fn result<'a>(ended: &Object<'a>, response: &Object<'a>) -> ResultText<'a> {
    let display = ended.object("resultDisplay");
    let exit_code = display.number("exitCode");
    let answer = answer(response);
    // With a code of its own, a command's text is what the command printed.
    let printed = display.text("output").filter(|_| exit_code.is_some());
    let status = ended.word("status");
    ResultText {
        is_error: match &*status {
            "success" => Some(false),
            "error" => Some(true),
            _ => Some(answer.is_error == Some(true)),
        },
        refused: status == "cancelled",
        exit_code,
        text: printed.unwrap_or(answer.text),
        ..ResultText::default()
    }
}
