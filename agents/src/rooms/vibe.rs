//! Mistral Vibe. Its transcripts are a journal of what goes into its core and out of it, one JSON object a line, in
//! `~/.vibe/logs/session/unified/<session>/journal/`. Each time that the session's state is saved, another file is begun,
//! and only the last two are kept.
//!
//! `core_input` lines hold a user's message, what the model answered, how a tool call ended and what a hook replied, and
//! the time. `action_intent` lines hold the calls, without a time: the one of the line before is theirs.

use std::borrow::Cow;
use std::sync::LazyLock;

use journal::{Agent, Event, Host, ReplyForm, Timestamp, ToolKind};
use serde_json::Value;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, HeadlessSign, Library, ProjectFile};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::prompts::Authors;
use crate::terminal::text_box::between_rules;
use crate::tools::{ResultText, Tools, plain};
use crate::transcript::forward::{Forward, Reader, Text, Whole};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

/// The field of a subagent's calls that holds the id of the agent's session.
const PARENT: &str = "parent_session_id";

pub(super) const VIBE: Adapter = Adapter {
    agent: Agent::Vibe,
    program: "vibe",
    // A subagent's calls have a session of their own, and its place is not the agent's.
    fields: Some(|payload| match payload.text(PARENT) {
        Some(_) => &KNOWN.other_fields,
        None => &KNOWN.fields,
    }),
    event,
    // The call says nothing but the session.
    repeats_stops: true,
    tools: &TOOLS,
    forward: Forward::Whole(whole),
    transcript_files: Some("journal"),
    library: Library {
        project_file: Some(ProjectFile {
            path: "../meta.json",
            pointer: Some("/environment/working_directory"),
        }),
        ..Library::of(
            "VIBE_HOME",
            ".vibe",
            &["logs/session/unified/*/journal/*.jsonl"],
        )
    },
    // It has no prompt hook.
    omits_prompts: true,
    // Its hooks have no terminal in either case.
    headless: |_| HeadlessSign::Transcript(is_programmatic),
    reply_form: ReplyForm::Deny,
    hears_start: false,
    composer: Some(ComposerForm {
        // The upper rule ends with the mode.
        find: |rows, view| between_rules(rows, view, &['>'], &[]),
        stands_for: |shown, pasted| {
            shown == format!("[Pasted {} characters]", pasted.chars().count())
        },
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("vibe");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    ..Tools::PLAIN
};

/// A failed command is a success with a `returncode`. Other failures have no output, but an error.
fn response(kind: ToolKind, response: &Value) -> ResultText<'_> {
    let stream = |name: &str| response[name].as_str().unwrap_or_default();
    let text = match kind {
        ToolKind::Shell => match (stream("stdout"), stream("stderr")) {
            (out, "") => Cow::Borrowed(out),
            ("", err) => Cow::Borrowed(err),
            (out, err) => format!("{}\n{err}", out.trim_end_matches('\n')).into(),
        },
        _ => plain(response),
    };
    ResultText {
        is_error: (kind != ToolKind::Shell).then_some(false),
        exit_code: response.get("returncode").and_then(Value::as_i64),
        text,
        ..ResultText::default()
    }
}

fn event(hook: &str, mut host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    if payload.text(PARENT).is_some() {
        host.subagent = payload.text(&KNOWN.fields.session).map(str::to_owned);
    }
    let usual = match hook {
        "pre_tool" => "PreToolUse",
        "post_tool" if payload.text("tool_status") == Some("success") => "PostToolUse",
        "post_tool" => "PostToolUseFailure",
        "post_agent" if host.subagent.is_some() => "SubagentStop",
        "post_agent" => "Stop",
        // The other names that other agents share would mean the same.
        other => other,
    };
    common::event(usual, host, payload, tools)
}

/// Names the command that began a turn.
const COMMAND: &str = "\"client_command_id\":\"";

/// Returns whether a journal begins with a turn that no terminal or editor sent: those put messages into a queue, and
/// `vibe -p` begins the turn by itself.
fn is_programmatic(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    let begun = beginning.split_once(COMMAND);
    begun.is_some_and(|(_, command)| command.starts_with("turn-"))
}

/// Lines in the order in which they were written, and what they said so far.
#[derive(Default)]
struct Log {
    now: Timestamp,
    session: Option<String>,
    is_own: bool,
    broken: usize,
}

/// Reads a whole journal from its beginning.
fn whole<'a>(text: &Text<'a>, reader: &mut Reader<'a, '_>) -> Whole {
    let mut log = Log::default();
    for line in text.lines.iter().rev() {
        log.take(line, reader.authors, &mut reader.entries);
    }
    reader.facts.session.clone_from(&log.session);
    Whole {
        is_own: log.is_own,
        is_persons: true,
        broken: log.broken,
    }
}

impl Log {
    /// Reads one line.
    fn take<'a>(&mut self, text: &'a str, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
        if !KNOWN.marks(text) {
            return;
        }
        let Ok(line) = Object::read(text) else {
            self.broken += 1;
            return;
        };
        let payload = line.object("payload");
        match &*line.word("type") {
            "command_reserved" => {
                let session = payload.object("params").owned("sessionId");
                self.session = session.or(self.session.take());
            }
            "core_input" if payload.get("input").is_some() => {
                let input = payload.object("input");
                let now = input.object("determinism").millis("time_unix_ms");
                self.now = now.unwrap_or(self.now);
                self.is_own = true;
                entries.extend(entry(&input.object("command"), self.now, authors));
            }
            "action_intent" if payload.get("request").is_some() => {
                self.is_own = true;
                entries.extend(call(&payload.object("request"), self.now));
            }
            _ => {}
        }
    }
}

fn entry<'a>(command: &Object<'a>, at: Timestamp, authors: &Authors<'_>) -> Option<Entry<'a>> {
    let kind = command.word("type");
    if kind == "user_message" {
        return Some(Entry::user(command.plain("content"), at, authors));
    }
    let ended: Object<'_> = command.part("result")?;
    match &*kind {
        "completion_succeeded" => Entry::said(Some(ended.plain("parts")), at),
        "hook_completed" => {
            let output = ended.object("output");
            // Text from a hook is not a person's, even if the person wrote the hook.
            let retry = || Entry::user_of(output.plain("feedback"), at, authors, false);
            (output.word("type") == "retry").then(retry)
        }
        "tool_succeeded" | "tool_failed" => {
            Entry::result(command.text("call_id"), result(&ended), at)
        }
        _ => None,
    }
}

/// Returns how a call of a tool ended.
fn result<'a>(ended: &Object<'a>) -> ResultText<'a> {
    if let Some(error) = ended.part::<Object<'_>>("error") {
        return ResultText::of(Some(true), error.word("message"));
    }
    let given = ended.value("structured_content");
    let kind = match given.get("returncode") {
        Some(_) => ToolKind::Shell,
        None => ToolKind::Other,
    };
    let result = response(kind, &given);
    let text = match result.text.is_empty() {
        true => ended.plain("content"),
        false => result.text.into_owned().into(),
    };
    ResultText {
        exit_code: result.exit_code,
        ..ResultText::of(result.is_error, text)
    }
}

fn call<'a>(request: &Object<'a>, at: Timestamp) -> Option<Entry<'a>> {
    let call = request.object("call");
    let tool = match (&*call.word("name"), &*call.word("group_name")) {
        ("", "") => return None,
        ("", group) => format!("{group}.{}", call.word("tool_name")),
        (name, _) => name.to_owned(),
    };
    let (id, input) = (request.word("call_id"), call.value("arguments"));
    Some(Entry::begun(&TOOLS, &id, &tool, &input, at))
}
