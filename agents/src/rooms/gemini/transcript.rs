//! Gemini CLI: a log of changes to a list of messages, one a line, in `~/.gemini/tmp/<project>/chats`.
//!
//! A message written again under its id replaces the earlier one; `{"$set":{"messages":[..]}}` replaces the list,
//! `{"$rewindTo":ID}` cuts it before that message. A resumed session has a second header in the same file. The older
//! format is one JSON document with the list in it. Nothing marks hook feedback in a headless run, so only own text is
//! known there; in the terminal a warning with the same words comes before it.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::chat::{Chat, Line, Log, document};
use super::tools::TOOLS;
use crate::prompts::{Authors, FEEDBACK};
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Reader, Whole};
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};
use crate::transcript::tail::{self, Tail};

/// What the terminal shows before the feedback of a hook that did not let the agent stop.
const BLOCKED: &str = "Agent execution blocked: ";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::rooms) struct ToolUse<'a> {
    #[serde(borrow)]
    pub(in crate::rooms) id: Scalar<'a>,
    pub(in crate::rooms) name: Scalar<'a>,
    pub(in crate::rooms) args: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    result_display: Option<&'a RawValue>,
    status: Scalar<'a>,
    timestamp: Scalar<'a>,
}

/// A part of a message's content, and of a tool's result.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::rooms) struct Part<'a> {
    #[serde(borrow)]
    pub(in crate::rooms) text: Scalar<'a>,
    /// Qwen Code keeps what the model thought.
    pub(in crate::rooms) thought: Scalar<'a>,
    pub(in crate::rooms) function_call: Option<ToolUse<'a>>,
    pub(in crate::rooms) function_response: Option<Response<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::rooms) struct Response<'a> {
    #[serde(borrow)]
    pub(in crate::rooms) id: Scalar<'a>,
    pub(in crate::rooms) response: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    #[serde(borrow)]
    output: Scalar<'a>,
    error: Scalar<'a>,
}

/// Reads the tail: first the list of messages, then that list from its end back to where the turn began. If it began
/// before, another part is read.
pub(super) fn backward(tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
    let mut log = Log::default();
    let (mut chat, mut entries, mut is_whole) = (Chat::default(), Vec::new(), false);
    if let Some(document) = tail.whole().and_then(document) {
        chat = document;
        let (at, turn) = last_turn(&chat, tail.all_turns, authors);
        (entries, is_whole) = (turn, at.is_some());
    } else {
        for part in tail.parts_backward() {
            log.take(part);
            chat = log.chat(tail.first_line());
            let (at, turn) = last_turn(&chat, tail.all_turns, authors);
            (entries, is_whole) = (turn, at.is_some());
            // What comes before a message tells who wrote it.
            let mut before = chat.messages[..at.unwrap_or(0)].iter();
            if log.is_all || before.any(|message| message.kind.text() != "info") {
                break;
            }
        }
    }
    let mut facts = Facts {
        session: chat.session.clone(),
        is_whole,
        ..Facts::default()
    };
    normal::fold(&TOOLS, authors, entries, &mut facts);
    chat.is_gemini.then_some(facts)
}

/// Returns the position of the message that began the current turn, if it is there, and the turn's entries, oldest first.
fn last_turn<'a>(
    chat: &Chat<'a>,
    all_turns: bool,
    authors: &Authors<'_>,
) -> (Option<usize>, Vec<Entry<'a>>) {
    let mut entries = Vec::new();
    let begun = (0..chat.messages.len()).rev().find(|at| {
        let known = entries.len();
        add_entries(&chat.messages, *at, authors, &mut entries);
        entries[known..].reverse();
        !all_turns && entries[known..].iter().any(Entry::begins_turn)
    });
    entries.reverse();
    (begun, entries)
}

/// What the terminal shows when a person stopped the agent.
const CANCELLED: &str = "Request cancelled.";

/// Reads a whole transcript from its beginning.
pub(super) fn whole<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> Whole {
    let (facts, entries) = (&mut reader.facts, &mut reader.entries);
    let (chat, broken) = match document(text) {
        Some(chat) => (chat, 0),
        None => {
            let mut log = Log::default();
            log.take(tail::backward(text));
            let is_broken = |line: &&str| serde_json::from_str::<&RawValue>(line).is_err();
            let broken = tail::backward(text).filter(is_broken).count();
            (log.chat(tail::backward(text).last()), broken)
        }
    };
    facts.session.clone_from(&chat.session);
    facts.cwd = chat.messages.iter().take(CONTEXT_MESSAGES).find_map(folder);
    for at in 0..chat.messages.len() {
        let message = &chat.messages[at];
        if message.kind.text() == "info" && json::plain(message.content) == CANCELLED {
            let at = message.timestamp.time();
            entries.push(Entry::Interrupted { at });
        }
        add_entries(&chat.messages, at, reader.authors, entries);
    }
    Whole {
        is_own: chat.is_gemini,
        is_persons: !chat.is_subagent,
        broken,
    }
}

/// The messages at the beginning in which the agent says where it runs.
const CONTEXT_MESSAGES: usize = 3;
/// What comes before the folder there, in the versions so far.
const FOLDER_MARKS: [&str; 2] = [
    "currently working in the directory: ",
    "**Workspace Directories:**\n  - ",
];

/// Returns the folder that the agent says it runs in.
fn folder(message: &Line<'_>) -> Option<String> {
    let text = match parts(message.content) {
        None => json::plain(message.content).into_owned(),
        Some(parts) => parts.iter().map(|part| part.text.text()).collect(),
    };
    let after = FOLDER_MARKS
        .iter()
        .find_map(|mark| text.split_once(mark))?
        .1;
    let folder = after.lines().next()?.trim();
    (!folder.is_empty()).then(|| folder.to_owned())
}

fn add_entries<'a>(
    messages: &[Line<'a>],
    at: usize,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    let message = &messages[at];
    match message.kind.text() {
        "user" => add_user(messages, at, authors, entries),
        "gemini" => add_agent(message, entries),
        _ => {}
    }
}

/// Returns the parts of a content that is a list; none if it is a text.
fn parts(content: Option<&RawValue>) -> Option<Vec<Part<'_>>> {
    if content?.get().starts_with('[') {
        json::part(content)
    } else {
        None
    }
}

fn add_user<'a>(
    messages: &[Line<'a>],
    at: usize,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    let message = &messages[at];
    let text =
        match parts(message.content) {
            None => json::plain(message.content),
            Some(parts) if parts.iter().any(|part| part.function_response.is_some()) => {
                let responses = parts.into_iter().filter_map(|part| part.function_response);
                let at = message.timestamp.time();
                return entries.extend(responses.filter_map(|response| {
                    Entry::result(response.id, answer(response.response), at)
                }));
            }
            Some(parts) => {
                // What hooks add to a prompt is a part of its own.
                let is_added =
                    |text: &&str| text.starts_with("<hook_context>") && authors.is_host(text);
                let texts = parts
                    .iter()
                    .map(|part| part.text.text())
                    .filter(|text| !is_added(text));
                Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
            }
        };
    let origin = authors.origin(&text, false);
    let (origin, text) = if origin == PromptOrigin::User && is_feedback(messages, at, &text) {
        (
            PromptOrigin::Host,
            Cow::Owned(format!("{FEEDBACK}\n{text}")),
        )
    } else {
        (origin, text)
    };
    entries.push(Entry::User {
        text,
        at: message.timestamp.time(),
        origin,
    });
}

/// Returns whether the terminal has said before a message that a hook answered with it.
fn is_feedback(messages: &[Line<'_>], at: usize, text: &str) -> bool {
    let said = messages[..at]
        .iter()
        .rev()
        .find(|message| message.kind.text() != "info");
    said.filter(|message| message.kind.text() == "warning")
        .is_some_and(|message| json::plain(message.content).strip_prefix(BLOCKED) == Some(text))
}

fn add_agent<'a>(message: &Line<'a>, entries: &mut Vec<Entry<'a>>) {
    let at = message.timestamp.time();
    let uses: Vec<ToolUse<'_>> = json::part(message.tool_calls).unwrap_or_default();
    let mut texts = Vec::new();
    match parts(message.content) {
        None => texts.push(json::plain(message.content)),
        Some(parts) => {
            for part in parts {
                if let Some(call) = part.function_call {
                    // A resumed session keeps the bare calls only; else `toolCalls` says more of the same.
                    entries.push(Entry::Call {
                        call: begun(&call, at),
                        is_echo: true,
                        task: None,
                    });
                } else if let Scalar::Text(text) = part.text {
                    texts.push(text);
                }
            }
        }
    }
    let said = texts.into_iter();
    entries.extend(said.map(|text| Entry::Assistant { text, at }));
    for call in uses {
        let begun = begun(&call, at);
        let ended = ended(call, begun.kind);
        entries.push(Entry::begun(begun));
        entries.extend(ended);
    }
}

fn begun(call: &ToolUse<'_>, at: Timestamp) -> journal::ToolCall {
    normal::begun(
        &TOOLS,
        call.id.text(),
        call.name.text(),
        &json::value(call.args),
        at,
    )
}

fn ended<'a>(call: ToolUse<'a>, kind: ToolKind) -> Option<Entry<'a>> {
    let status = call.status.text();
    let at = call.timestamp.time();
    // Of a call that went well only a command's result says more, its exit code; other results may be long.
    let mut result = if status == "success" && kind != ToolKind::Shell {
        ResultText::default()
    } else {
        let answered = parts(call.result)
            .and_then(|parts| parts.into_iter().find_map(|part| part.function_response))
            .map_or_else(
                || ResultText::of(None, json::plain(call.result)),
                |response| answer(response.response),
            );
        let display = match json::part(call.result_display) {
            Some(Scalar::Text(display)) => Some(display),
            _ => None,
        };
        ResultText {
            display,
            ..answered
        }
    };
    match status {
        // A failed command has this status too.
        "success" => {}
        "error" => result.is_error = Some(true),
        "cancelled" => result.refused = true,
        "" if call.result.is_some() => {}
        _ => return None,
    }
    Entry::result(call.id, result, at)
}

/// Reads `{"output": TEXT}` or `{"error": TEXT}`.
pub(in crate::rooms) fn answer(response: Option<&RawValue>) -> ResultText<'_> {
    let Some(Answer { output, error }) = json::part(response) else {
        return ResultText::default();
    };
    match error.into_text() {
        Some(text) => ResultText::of(Some(true), text),
        None => ResultText::of(None, output.into_text().unwrap_or_default()),
    }
}
