//! GitHub Copilot CLI. Its transcripts are one JSON object a line, `{type, data, id, timestamp, parentId}`, in
//! `~/.copilot/session-state/<session>/events.jsonl`. Lines with `parentToolCallId` are a subagent's.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ToolKind};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::prompts::element;
use crate::terminal::text_box::between_rules;
use crate::tools::{Frame, ResultText, Tools, plain};
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::Entry;

pub(super) const COPILOT: Adapter = Adapter {
    agent: Agent::Copilot,
    program: "copilot",
    fields: |_| &KNOWN.fields,
    event,
    variables: Variables {
        project: Some("COPILOT_PROJECT_DIR"),
        ..Variables::NONE
    },
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
    let inside = text[at..]
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
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

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    id: Scalar<'a>,
    timestamp: Scalar<'a>,
    data: Option<Data<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    session_id: Scalar<'a>,
    copilot_version: Scalar<'a>,
    context: Option<&'a RawValue>,
    parent_tool_call_id: Scalar<'a>,
    content: Option<&'a RawValue>,
    tool_requests: Option<&'a RawValue>,
    tool_call_id: Scalar<'a>,
    success: Scalar<'a>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    shell_execution: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Scalar<'a>,
    branch: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    tool_call_id: Scalar<'a>,
    name: Scalar<'a>,
    arguments: Option<&'a RawValue>,
}

/// The result of a call.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow)]
    content: Scalar<'a>,
    message: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Execution<'a> {
    #[serde(borrow)]
    exit_code: Scalar<'a>,
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line: Line<'_> = serde_json::from_str(text)?;
    let at = line.timestamp.time();
    let data = line
        .data
        .filter(|data| !line.id.text().is_empty() && data.parent_tool_call_id.text().is_empty());
    let Some(data) = data else {
        return Ok(Read::Nothing);
    };
    match line.kind.text() {
        "session.start" => note_place(&data, &mut reader.facts),
        "user.message" => {
            reader.user(json::plain(data.content), at);
            return Ok(Read::Own { may_begin: true });
        }
        "assistant.message" => {
            let text = json::plain(data.content);
            reader.entries.push(Entry::Assistant { text, at });
            let requests: Vec<Request<'_>> = json::part(data.tool_requests).unwrap_or_default();
            reader.entries.extend(requests.iter().map(|request| {
                let (id, tool) = (&request.tool_call_id, &request.name);
                Entry::call(&TOOLS, id, tool, request.arguments, at)
            }));
        }
        "tool.execution_complete" => {
            let result = result(&data);
            let result = Entry::result(data.tool_call_id, result, at);
            reader.entries.extend(result);
        }
        "abort" => reader.entries.push(Entry::Interrupted { at }),
        _ => return Ok(Read::Nothing),
    }
    Ok(Read::Own { may_begin: false })
}

fn note_place(data: &Data<'_>, facts: &mut Facts) {
    let context: Option<Context<'_>> = json::part(data.context);
    let (cwd, branch) = context
        .map(|context| (context.cwd.owned(), context.branch.owned()))
        .unwrap_or_default();
    facts.session = data.session_id.owned();
    facts.host_version = data.copilot_version.owned();
    facts.cwd = cwd;
    facts.branch = branch;
}

fn result<'a>(data: &Data<'a>) -> ResultText<'a> {
    let exit_code = json::part::<Execution<'_>>(data.shell_execution)
        .and_then(|execution| execution.exit_code.number());
    let said: Option<Said<'_>> = json::part(data.result).or_else(|| json::part(data.error));
    let text = said.and_then(|said| said.content.into_text().or(said.message.into_text()));
    ResultText {
        // A command that failed is a success.
        is_error: (data.success.flag() == Some(false)).then_some(true),
        exit_code,
        text: text.unwrap_or_default(),
        ..ResultText::default()
    }
}
