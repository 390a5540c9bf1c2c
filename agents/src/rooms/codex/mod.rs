//! Codex CLI.

mod items;
mod literals;
mod results;
mod script;
mod tools;
mod transcript;

use journal::{Agent, Event, Host, Place, ReplyForm};
use reading::{digest, text};
use serde::Deserialize;
use serde_json::Value;

use crate::adapter::{
    Adapter, ComposerForm, DEFAULT, HandOver, HeadlessSign, Library, TranscriptPlace,
};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::prompts::element;
use crate::terminal::text_box::{TextBox, open_composer};
use crate::tools::Tools;
use crate::transcript::forward::Forward;

const PROGRAM: &str = "codex";
const HOME: &str = "CODEX_HOME";
const NOTIFY: &str = "notify";

pub(super) const CODEX: Adapter = Adapter {
    agent: Agent::Codex,
    program: PROGRAM,
    fields: Some(
        |payload| match (payload.text("type"), payload.text("thread-id")) {
            (Some(_), Some(_)) => &tools::KNOWN.other_fields,
            _ => &tools::KNOWN.fields,
        },
    ),
    event,
    peel,
    tools: &tools::TOOLS,
    forward: Forward::lines(|| &tools::KNOWN, transcript::line),
    backward: Some(transcript::backward),
    // `notify` does not say where the rollout is.
    transcript_place: Some(TranscriptPlace::ByDay {
        folder: "sessions",
        prefix: "rollout-",
    }),
    library: Library::of(HOME, ".codex", &ROLLOUTS),
    headless: |_| HeadlessSign::Transcript(is_exec),
    composer: Some(ComposerForm {
        // It shows the terminal's cursor, except while it asks something.
        find: |rows, view| {
            let (first, last, start) =
                open_composer(rows, view, &['›'], START).filter(|_| view.cursor_shown)?;
            let at_start = view.cursor == (start, first);
            Some(TextBox::new(&rows[first..last], start, at_start, &[]))
        },
        stands_for: |shown, pasted| {
            shown == format!("[Pasted Content {} chars]", pasted.chars().count())
        },
    }),
    hand_over: Some(hand_over),
    tool_form: Some(ReplyForm::Tool),
    ..DEFAULT
};

const ROLLOUTS: [&str; 2] = [
    "sessions/*/*/*/rollout-*.jsonl",
    "archived_sessions/rollout-*.jsonl",
];

/// The column at which the text begins in the composer.
const START: usize = 2;

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        NOTIFY => notified(host, payload),
        "Interrupt" => common::interrupted(host, "user"),
        _ => common::event(hook, host, payload, tools),
    }
}

/// A call of `notify` is a stop that cannot be answered.
fn notified(host: Host, payload: &Payload<'_>) -> Event {
    let last_input = || {
        let inputs = payload.get("input-messages").and_then(Value::as_array)?;
        inputs.last().and_then(Value::as_str)
    };
    Event::AgentStopped {
        host,
        reentry: false,
        background_tasks: 0,
        can_reply: false,
        prompt_digest: last_input().map(digest::of_prompt),
        last_message: payload
            .text("last-assistant-message")
            .map(|last| text::tail(last, Event::TEXT_BYTES_MAX).to_owned()),
    }
}

/// Several hooks that speak at once get an element each, one after the other.
fn peel(text: &str) -> Option<[&str; 2]> {
    element(text, "hook_prompt").map(|(inner, after)| [after, inner])
}

/// Returns whether a session runs without a person, by the beginning of its rollout.
///
/// Only the first line says so, and in a long session it is not in the tail.
fn is_exec(beginning: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Line {
        payload: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        source: Option<Value>,
    }
    let first = beginning.split(|byte| *byte == b'\n').next();
    let line = serde_json::from_slice::<Line>(first.unwrap_or_default());
    line.is_ok_and(|line| line.payload.source.is_some_and(|source| source == "exec"))
}

/// `codex queue` hands a message to the terminal program of a thread, which takes it up when it is idle. It needs no
/// terminal, leaves drafts alone, and waits while a question is up.
fn hand_over(place: &Place, session: &str, text: &str) -> HandOver {
    let arguments = ["queue", "--thread", session, "--message", text];
    let home = place.env(HOME);
    HandOver {
        program: PROGRAM,
        arguments: arguments.map(str::to_owned).to_vec(),
        env: Vec::from_iter(home.map(|home| (HOME.to_owned(), home.to_owned()))),
        missing: "no_codex",
    }
}
