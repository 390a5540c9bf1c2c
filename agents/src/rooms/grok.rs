//! Grok Build. Its transcripts are one JSON object a line, `{params: {sessionId, update, _meta}}`, in
//! `~/.grok/sessions/<folder>/<session>/updates.jsonl`. The text of a stop hook is not in them.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ToolKind};
use serde_json::Value;

use super::claude::CLAUDE;
use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, SubagentTranscripts};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::prompts::element;
use crate::terminal::text_box::framed;
use crate::tools::{Reported, ResultText, Tools};
use crate::transcript::forward::{Forward, Lines, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// It runs hooks in Claude Code's form, also those of Claude Code's own settings, and names fields and events in its way.
pub(super) const GROK: Adapter = Adapter {
    agent: Agent::Grok,
    program: "grok",
    event,
    notifications: CLAUDE.notifications,
    task_returns: CLAUDE.task_returns,
    tools: &TOOLS,
    forward: Forward::Lines(LINES),
    subagents: Some(SubagentTranscripts {
        files: &["../ID/updates.jsonl"],
        lines: LINES,
    }),
    library: Library::of("GROK_HOME", ".grok", &["sessions/*/*/updates.jsonl"]),
    hears_start: false,
    composer: Some(ComposerForm {
        find: |rows, view| framed(rows, view, '❯'),
        stands_for: |shown, pasted| shown == format!("[Pasted: {} lines]", pasted.lines().count()),
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("grok");

const LINES: Lines = Lines {
    known: || &KNOWN,
    line,
};

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    ..Tools::PLAIN
};

/// The result of a command in the background.
const STARTED: &str = "BackgroundTaskStarted";

/// Its results name their kind, and hold an exit code, or a text or a message that says what failed.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let text = |key: &str| response.get(key).and_then(Value::as_str);
    let shown = text("output_for_prompt").unwrap_or_default();
    // `exit: N` comes before what the command printed.
    let printed = shown.split_once('\n');
    let printed = printed.filter(|(head, rest)| head.starts_with("exit: ") && !rest.is_empty());
    let exit_code = response.get("exit_code").and_then(Value::as_i64);
    let running = text("type") == Some(STARTED);
    let told = response.as_object().into_iter().flatten();
    let mut told = told.filter(|_| exit_code.is_none() && !running);
    let failure = told.find_map(|(_, said)| match said.as_str() {
        Some(said) => said.starts_with("Error").then_some(said),
        None => said.get("message")?.as_str(),
    });
    ResultText {
        is_error: failure.map(|_| true),
        exit_code,
        running,
        text: failure
            .unwrap_or(printed.map_or(shown, |(_, printed)| printed))
            .into(),
        ..ResultText::default()
    }
}

/// Its events have Claude Code's names in small letters: `pre_tool_use`.
fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        // What a person sent is in this element. A subagent's task comes without.
        "user_prompt_submit" => {
            match element(payload.text("prompt").unwrap_or_default(), "user_query") {
                Some((typed, _)) => payload.prompt_that_says(host, typed.trim()),
                None => payload.prompt_of(host, false),
            }
        }
        // When a session ends it reports a stop once more, and reads no answer.
        "stop" if payload.text("reason") != Some("end_turn") => Event::OtherHook { host },
        _ => {
            let words = hook.split('_').map(|word| {
                let (first, rest) = word.split_at(word.ceil_char_boundary(1));
                first.to_uppercase() + rest
            });
            common::event_or_notification(&words.collect::<String>(), host, payload, tools)
        }
    }
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let params = Object::read(text)?.object("params");
    let update = params.object("update");
    let at = params.object("_meta").millis("agentTimestampMs");
    let at = at.unwrap_or_default();
    let entry = match (&*update.word("sessionUpdate"), &*update.word("status")) {
        ("user_message_chunk", _) => {
            reader.facts.session = params.owned("sessionId");
            reader.user(update.plain("content"), at);
            return Ok(Read::Own { may_begin: true });
        }
        ("agent_message_chunk", _) => Entry::said(Some(update.plain("content")), at),
        ("tool_call", _) => {
            let names = ["toolCallId", "title", "rawInput"];
            Some(Entry::call(&TOOLS, &update, names, at))
        }
        ("tool_call_update", "completed" | "failed") => {
            Entry::result(update.text("toolCallId"), result(&update), at)
        }
        _ => None,
    };
    Ok(match entry {
        Some(entry) => {
            reader.facts.session = params.owned("sessionId");
            reader.entries.push(entry);
            Read::Own { may_begin: false }
        }
        None => Read::Nothing,
    })
}

fn result<'a>(update: &Object<'a>) -> ResultText<'a> {
    let output = update.object("rawOutput");
    let shown = update.objects("content").into_iter();
    let mut texts = shown.filter_map(|it| it.object("content").text("text"));
    ResultText {
        is_error: (update.word("status") == "failed").then_some(true),
        exit_code: output.number("exit_code"),
        running: output.word("type") == STARTED,
        subagent: output.text("subagent_id").map(|id| Reported {
            id: Some(id),
            calls: output.count("tool_calls"),
            continues: false,
        }),
        text: texts.next().unwrap_or_default(),
        ..ResultText::default()
    }
}
