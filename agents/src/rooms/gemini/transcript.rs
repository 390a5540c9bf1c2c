//! Gemini CLI: a log of changes to a list of messages, one a line, in `~/.gemini/tmp/<project>/chats`.
//!
//! A message written again under its id replaces the earlier one; `{"$set":{"messages":[..]}}` replaces the list,
//! `{"$rewindTo":ID}` cuts it before that message. A resumed session has a second header in the same file. The older
//! format is one JSON document with the list in it. Nothing marks hook feedback in a headless run, so only own text is
//! known there; in the terminal a warning with the same words comes before it.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp, ToolCall, ToolKind};

use super::chat::{Chat, Line, document};
use super::tools::TOOLS;
use crate::prompts::{Authors, FEEDBACK};
use crate::tools::ResultText;
use crate::transcript::forward::{Reader, Text, Whole};
use crate::transcript::json::Object;
use crate::transcript::normal::{self, Entry};

/// What the terminal shows before the feedback of a hook that did not let the agent stop.
const BLOCKED: &str = "Agent execution blocked: ";

/// What the terminal shows when a person stopped the agent.
const CANCELLED: &str = "Request cancelled.";

/// Reads a whole transcript from its beginning.
pub(super) fn whole<'a>(text: &Text<'a>, reader: &mut Reader<'a, '_>) -> Whole {
    let (facts, entries) = (&mut reader.facts, &mut reader.entries);
    let (chat, broken) = match text.whole.and_then(document) {
        Some(chat) => (chat, 0),
        None => Chat::of(&text.lines),
    };
    facts.session.clone_from(&chat.session);
    facts.cwd = chat.messages.iter().take(CONTEXT_MESSAGES).find_map(folder);
    for at in 0..chat.messages.len() {
        let message = &chat.messages[at];
        if message.word("type") == "info" && message.plain("content") == CANCELLED {
            let at = message.time("timestamp");
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
    let text: String = match parts(message) {
        None => message.plain("content").into_owned(),
        Some(parts) => parts.iter().map(|part| part.word("text")).collect(),
    };
    let mut marks = FOLDER_MARKS.iter();
    let (_, after) = marks.find_map(|mark| text.split_once(mark))?;
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
    match &*message.word("type") {
        "user" => add_user(messages, at, authors, entries),
        "gemini" => add_agent(message, entries),
        _ => {}
    }
}

/// Returns the parts of a content that is a list; none if it is a text.
fn parts<'a>(message: &Line<'a>) -> Option<Vec<Object<'a>>> {
    message.part("content")
}

fn add_user<'a>(
    messages: &[Line<'a>],
    at: usize,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    let (message, sent) = (&messages[at], messages[at].time("timestamp"));
    let text = match parts(message) {
        None => message.plain("content"),
        Some(parts) => {
            let responses = parts.iter().filter_map(|part| part.part(RESPONSE));
            let responses: Vec<Object<'_>> = responses.collect();
            if !responses.is_empty() {
                return entries.extend(responses.iter().filter_map(|response| {
                    Entry::result(response.text("id"), answer(response), sent)
                }));
            }
            // What hooks add to a prompt is a part of its own.
            let is_added =
                |text: &Cow<'_, str>| text.starts_with("<hook_context>") && authors.is_host(text);
            let texts = parts.iter().map(|part| part.word("text"));
            let typed: Vec<_> = texts.filter(|text| !is_added(text)).collect();
            typed.join("\n").into()
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
        at: sent,
        origin,
    });
}

/// Returns whether the terminal has said before a message that a hook answered with it.
fn is_feedback(messages: &[Line<'_>], at: usize, text: &str) -> bool {
    let mut before = messages[..at].iter().rev();
    let said = before.find(|message| message.word("type") != "info");
    let warned = said.filter(|message| message.word("type") == "warning");
    warned.is_some_and(|message| message.plain("content").strip_prefix(BLOCKED) == Some(text))
}

fn add_agent<'a>(message: &Line<'a>, entries: &mut Vec<Entry<'a>>) {
    let at = message.time("timestamp");
    let mut texts = Vec::new();
    match parts(message) {
        None => texts.push(message.plain("content")),
        Some(parts) => {
            for part in parts {
                if let Some(call) = part.part("functionCall") {
                    // A resumed session keeps the bare calls only; else `toolCalls` says more of the same.
                    entries.push(Entry::Call {
                        call: begun(&call, at),
                        is_echo: true,
                        task: None,
                    });
                } else {
                    texts.extend(part.text("text"));
                }
            }
        }
    }
    let said = texts.into_iter();
    entries.extend(said.map(|text| Entry::Assistant { text, at }));
    for call in message.objects("toolCalls") {
        let begun = begun(&call, at);
        let ended = ended(&call, begun.kind);
        entries.push(Entry::Call {
            call: begun,
            is_echo: false,
            task: None,
        });
        entries.extend(ended);
    }
}

fn begun(call: &Object<'_>, at: Timestamp) -> ToolCall {
    let (id, name) = (call.word("id"), call.word("name"));
    normal::begun(&TOOLS, &id, &name, &call.value("args"), at)
}

fn ended<'a>(call: &Object<'a>, kind: ToolKind) -> Option<Entry<'a>> {
    let status = call.word("status");
    // Of a call that went well only a command's result says more, its exit code; other results may be long.
    let mut result = if status == "success" && kind != ToolKind::Shell {
        ResultText::default()
    } else {
        let parts = call.objects("result");
        let response: Option<Object<'_>> = parts.iter().find_map(|part| part.part(RESPONSE));
        let answered = match response {
            Some(response) => answer(&response),
            None => ResultText::of(None, call.plain("result")),
        };
        ResultText {
            display: call.text("resultDisplay"),
            ..answered
        }
    };
    match &*status {
        // A failed command has this status too.
        "success" => {}
        "error" => result.is_error = Some(true),
        "cancelled" => result.refused = true,
        "" if call.get("result").is_some() => {}
        _ => return None,
    }
    Entry::result(call.text("id"), result, call.time("timestamp"))
}

/// The part of a message that answers a call.
pub(in crate::rooms) const RESPONSE: &str = "functionResponse";

/// Reads such a part: `{"response": {"output": TEXT}}`, or `error` in place of `output`.
pub(in crate::rooms) fn answer<'a>(response: &Object<'a>) -> ResultText<'a> {
    let said = response.object("response");
    match said.text("error") {
        Some(text) => ResultText::of(Some(true), text),
        None => ResultText::of(None, said.word("output")),
    }
}
