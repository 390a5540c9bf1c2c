//! Antigravity, by its public documentation: it was not run. Neither its screens nor the names of its turns are known. The form
//! of its transcripts is that of those which its users published: one step a line, `{step_index, source, type, created_at,
//! content, tool_calls}`.

use std::sync::LazyLock;

use journal::{Agent, Event, Host, ReplyForm, Timestamp};
use serde_json::Value;

use super::cursor::settle;
use crate::adapter::{Adapter, DEFAULT, HeadlessSign, Library};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::known::{Known, known};
use crate::prompts::element;
use crate::tools::{ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;

pub(super) const ANTIGRAVITY: Adapter = Adapter {
    agent: Agent::Antigravity,
    program: "agy",
    event,
    // The call says nothing but the session.
    repeats_stops: true,
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of(
        "HOME",
        "",
        &[".gemini/antigravity-cli/brain/*/.system_generated/logs/transcript_full.jsonl"],
    ),
    // It has no prompt hook.
    omits_prompts: true,
    // The editor has no terminal.
    headless: |_| HeadlessSign::Known(false),
    reply_form: ReplyForm::Continue,
    takes_silently: true,
    hears_start: false,
    ..DEFAULT
};

static KNOWN: LazyLock<Known> = known!("antigravity");

/// A hook says what ran, and only the transcript how it ended.
const TOOLS: Tools = Tools {
    known: || &KNOWN,
    ..Tools::PLAIN
};

fn event(hook: &str, mut host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    settle(&mut host, payload);
    let has_error = payload.text("error").is_some_and(|error| !error.is_empty());
    let ended = payload.text("terminationReason").unwrap_or_default();
    match hook {
        "Stop" if has_error || matches!(ended, "error" | "max_steps_exceeded") => {
            common::interrupted(host, "api_error")
        }
        "Stop" => {
            let mut event = payload.stop(host, "last_assistant_message");
            if let Event::AgentStopped {
                background_tasks, ..
            } = &mut event
            {
                // How many there are is not said.
                *background_tasks = (payload.get("fullyIdle") == Some(&false.into())).into();
            }
            event
        }
        "PostToolUse" => {
            let mut call = payload.tool(tools);
            call.finished = has_error;
            call.is_error = has_error;
            call.output = payload.owned("error");
            match has_error {
                true => Event::ToolFailed { host, call },
                false => Event::ToolFinished { host, call },
            }
        }
        "PreInvocation" | "PostInvocation" => Event::ModelStepped { host },
        _ => common::event(hook, host, payload, tools),
    }
}

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let at = line.time("created_at");
    let step = line.count("step_index");
    let Some(step) = step.filter(|step| *step < u64::from(u32::MAX)) else {
        return Ok(Read::Nothing);
    };
    match (&*line.word("source"), &*line.word("type")) {
        ("USER_EXPLICIT", "USER_INPUT") => {
            let sent = line.word("content");
            let typed = element(&sent, "USER_REQUEST").map_or(&*sent, |(typed, _)| typed);
            reader.user(typed.trim().to_owned().into(), at);
            return Ok(Read::Own { may_begin: true });
        }
        ("MODEL", "PLANNER_RESPONSE") => {
            reader.entries.extend(Entry::said(line.text("content"), at));
            // The results are the steps that follow, in the order of the calls.
            let calls = (step + 1..).zip(line.objects("tool_calls"));
            let calls = calls.map(|(result, call)| begin(result, &call, at));
            reader.entries.extend(calls);
        }
        ("MODEL", _) => reader.entries.push(end(step, &line, at)),
        _ => {}
    }
    Ok(Read::Own { may_begin: false })
}

fn begin<'a>(result: u64, call: &Object<'_>, at: Timestamp) -> Entry<'a> {
    let args: serde_json::Map<_, _> = call.part("args").unwrap_or_default();
    let args = args.into_iter().map(|(name, value)| (name, plain(value)));
    let input = Value::Object(args.collect());
    Entry::begun(&TOOLS, &result.to_string(), &call.word("name"), &input, at)
}

/// Older versions write each argument as JSON in a text.
fn plain(value: Value) -> Value {
    let held = value.as_str().filter(|text| text.starts_with('"'));
    let held = held.and_then(|text| serde_json::from_str(text).ok());
    held.unwrap_or(value)
}

fn end<'a>(step: u64, line: &Object<'a>, at: Timestamp) -> Entry<'a> {
    let has_error = !line.word("error").is_empty();
    let content = line.word("content");
    let (exit_code, text) = match ended(&content) {
        Some((code, printed)) => (Some(code), printed.to_owned().into()),
        None => (None, content),
    };
    Entry::Result {
        id: step.to_string().into(),
        result: ResultText {
            is_error: exit_code.is_none().then_some(has_error),
            exit_code,
            running: line.word("status") == "RUNNING",
            text,
            ..ResultText::default()
        },
        at,
        duration_ms: None,
    }
}

/// Returns the exit code of a command and what it printed, if a result begins as that of a command.
fn ended(content: &str) -> Option<(i64, &str)> {
    let mut rest = content;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim();
        let code = [
            "The command failed with exit code: ",
            "The command exited with code ",
        ]
        .iter()
        .find_map(|words| line.strip_prefix(words)?.trim_end_matches('.').parse().ok());
        let code = code.or((line == "The command completed successfully.").then_some(0));
        if let Some(code) = code {
            let (head, printed) = after.split_once('\n').unwrap_or((after, ""));
            let is_head = ["Output:", "Stdout:"].contains(&head.trim());
            let printed = if is_head { printed } else { after };
            return Some((code, printed.trim_start_matches('\t')));
        }
        let mut times = ["Created At: ", "Completed At: "].iter();
        let is_time = times.any(|words| line.starts_with(words));
        if after.is_empty() || !(line.is_empty() || is_time) {
            return None;
        }
        rest = after;
    }
}
