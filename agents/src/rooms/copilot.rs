//! GitHub Copilot CLI. Its transcripts are one JSON object a line, `{type, data, id, timestamp, parentId}`, in
//! `~/.copilot/session-state/<session>/events.jsonl`. Lines with `parentToolCallId` are a subagent's.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ToolKind};
use serde_json::Value;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::prompts::element;
use crate::terminal::text_box::between_rules;
use crate::tools::{Frame, ResultText, Tools, plain};
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

pub(super) const COPILOT: Adapter = Adapter {
    agent: Agent::Copilot,
    program: "copilot",
    event,
    variables: Variables::project("COPILOT_PROJECT_DIR"),
    // The model gets the date before each message; hooks and transcripts have the message alone.
    peel: |text| element(text, "current_datetime").map(|(inner, after)| [inner, after]),
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of(
        "COPILOT_HOME",
        ".copilot",
        &["session-state/*/events.jsonl"],
    ),
    hears_start: false,
    composer: Some(ComposerForm {
        find: |rows, view| between_rules(rows, view, &['❯'], &[]),
        stands_for: |shown, pasted| {
            let lines = pasted.lines().count();
            shown.strip_prefix("[Paste #").is_some_and(|rest| {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                rest == format!(" - {lines} lines]")
            })
        },
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("copilot");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    frame,
    ..Tools::PLAIN
};

/// A failed command is reported as a success. Only the last line has its exit code.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let kind = response.get("resultType").and_then(Value::as_str);
    ResultText {
        is_error: (kind == Some("failure")).then_some(true),
        refused: matches!(kind, Some("rejected" | "denied")),
        text: plain(response.get("textResultForLlm").unwrap_or(response)),
        ..ResultText::default()
    }
}

/// The last line is `<shellId: 0 completed with exit code 1>`, or says of a command with a `shellId` that it goes on:
/// `<command started in background with shellId: 0>`.
fn frame(result: &ResultText<'_>) -> Frame {
    let text = result.text.trim_end();
    let at = text.rfind("\n<").map_or(0, |before| before + 1);
    let inside = text[at..].strip_prefix('<');
    let inside = inside.and_then(|rest| rest.strip_suffix('>'));
    let inside = inside.filter(|inside| {
        inside.starts_with("shellId: ")
            || (inside.starts_with("command ") && inside.contains("shellId: "))
    });
    let code = inside.and_then(|inside| inside.split_once(" completed with exit code "));
    Frame {
        code: code.and_then(|(_, code)| code.trim().parse().ok()),
        running: inside.is_some() && code.is_none(),
        ..Frame::default()
    }
}

/// The names of events are on the command line.
fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    let usual = match hook {
        // A subagent's hook calls have a session of their own. Its stop is not the agent's.
        "agentStop" if host.subagent.is_some() => return Event::OtherHook { host },
        "postToolUseFailure" => "PostToolUseFailure",
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "userPromptSubmitted" => "UserPromptSubmit",
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "agentStop" => "Stop",
        "preCompact" => "PreCompact",
        _ => return Event::OtherHook { host },
    };
    common::event(usual, host, payload, tools)
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let at = line.time("timestamp");
    let data = line.object("data");
    let is_subagents = !data.word("parentToolCallId").is_empty();
    if line.word("id").is_empty() || line.get("data").is_none() || is_subagents {
        return Ok(Read::Nothing);
    }
    match &*line.word("type") {
        "session.start" => note_place(&data, &mut reader.facts),
        "user.message" => {
            reader.user(data.plain("content"), at);
            return Ok(Read::Own { may_begin: true });
        }
        "assistant.message" => {
            let said = Entry::said(Some(data.plain("content")), at);
            let requests = data.objects("toolRequests").into_iter();
            let names = ["toolCallId", "name", "arguments"];
            let calls = requests.map(|request| Entry::call(&TOOLS, &request, names, at));
            reader.entries.extend(said.into_iter().chain(calls));
        }
        "tool.execution_complete" => {
            let result = Entry::result(data.text("toolCallId"), result(&data), at);
            reader.entries.extend(result);
        }
        "abort" => reader.entries.push(Entry::Interrupted { at }),
        _ => return Ok(Read::Nothing),
    }
    Ok(Read::Own { may_begin: false })
}

fn note_place(data: &Object<'_>, facts: &mut Facts) {
    let context = data.object("context");
    facts.session = data.owned("sessionId");
    facts.host_version = data.owned("copilotVersion");
    facts.cwd = context.owned("cwd");
    facts.branch = context.owned("branch");
}

/// The result of a call.
fn result<'a>(data: &Object<'a>) -> ResultText<'a> {
    let said = data.part("result").or_else(|| data.part("error"));
    let said: Object<'_> = said.unwrap_or_default();
    let text = said.text("content").or_else(|| said.text("message"));
    ResultText {
        // A command that failed is a success.
        is_error: (data.flag("success") == Some(false)).then_some(true),
        exit_code: data.object("shellExecution").number("exitCode"),
        text: text.unwrap_or_default(),
        ..ResultText::default()
    }
}
