//! Cursor, by its public documentation: it was not run. Neither its screens nor the form of its transcripts are known.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ReplyForm, ToolKind};
use serde_json::Value;

use crate::adapter::{Adapter, DEFAULT, HeadlessSign, Library, Variables};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::tools::{ResultText, Tools, plain};

/// How many answers in a row Cursor submits, if an entry does not set it.
const LOOP_LIMIT: u64 = 5;

pub(super) const CURSOR: Adapter = Adapter {
    agent: Agent::Cursor,
    program: "cursor-agent",
    event,
    may_continue: |payload| answered(payload.get("loop_count")) < LOOP_LIMIT,
    variables: Variables::project("CURSOR_PROJECT_DIR"),
    tools: &TOOLS,
    library: Library::of("HOME", ".cursor", &[]),
    // The editor has no terminal. A run without a person calls no stop hook.
    headless: |_| HeadlessSign::Known(false),
    reply_form: ReplyForm::FollowUp,
    // The reply to a session's start has other fields.
    hears_start: false,
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("cursor");

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    response,
    ..Tools::PLAIN
};

/// The result is a text that holds JSON. Calls that fail have a hook of their own, but a command may end with any code.
fn response(_: ToolKind, response: &Value) -> ResultText<'_> {
    let held = response.as_str().map(serde_json::from_str::<Value>);
    let held = held.and_then(Result::ok).filter(Value::is_object);
    let Some(held) = held else {
        return ResultText::of(Some(false), plain(response));
    };
    let exit_code = held.get("exitCode").and_then(Value::as_i64);
    let texts = ["output", "stdout", "stderr"].map(|key| held.get(key).and_then(Value::as_str));
    let printed: Vec<&str> = texts.into_iter().flatten().collect();
    let text = if printed.is_empty() {
        plain(&held).into_owned()
    } else {
        printed.join("\n")
    };
    ResultText {
        exit_code,
        is_error: exit_code.is_none().then_some(false),
        text: text.into(),
        ..ResultText::default()
    }
}

fn event(hook: &str, mut host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    settle(&mut host, payload);
    if let Some(place) = &mut host.place {
        place.transcript = None;
    }
    let usual = match hook {
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "beforeSubmitPrompt" => "UserPromptSubmit",
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "postToolUseFailure" => return failure(host, payload, tools),
        "preCompact" => "PreCompact",
        "subagentStart" => "SubagentStart",
        "subagentStop" => "SubagentStop",
        "stop" => return stop(host, payload),
        _ => return Event::OtherHook { host },
    };
    common::event(usual, host, payload, tools)
}

/// The folders of the workspace are named, and not the one where the agent works.
pub(super) fn settle(host: &mut Host, payload: &Payload<'_>) {
    let Some(place) = &mut host.place else {
        return;
    };
    let roots = payload.get("workspace_roots");
    let root = roots.and_then(|roots| roots.get(0)?.as_str());
    if let (true, Some(root)) = (place.cwd.is_empty(), root) {
        root.clone_into(&mut place.cwd);
    }
}

fn failure(host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    let mut call = payload.finished_tool(tools);
    if payload.text("failure_type") == Some("permission_denied") {
        call.refused = true;
        call.is_error = false;
        call.output.clear();
    }
    Event::ToolFailed { host, call }
}

/// Returns how often the stops of the conversation have been answered in a row.
fn answered(count: Option<&Value>) -> u64 {
    count.and_then(Value::as_u64).unwrap_or(0)
}

fn stop(host: Host, payload: &Payload<'_>) -> Event {
    let cause = match payload.text("status") {
        Some("aborted") => "user",
        Some("error") => "api_error",
        _ => {
            let mut event = payload.stop(host, "last_assistant_message");
            if let Event::AgentStopped { reentry, .. } = &mut event {
                *reentry = answered(payload.get("loop_count")) > 0;
            }
            return event;
        }
    };
    common::interrupted(host, cause)
}
