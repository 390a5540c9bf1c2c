//! Gemini CLI.

mod chat;
mod tools;
mod transcript;

use journal::{Agent, Event, Host, ReplyForm};

use crate::adapter::{
    Adapter, ComposerForm, DEFAULT, IgnoredStart, Library, Notifications, ProjectFile, Variables,
};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::prompts::element;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, is_choice, is_rule, open_composer};
use crate::tools::Tools;
use crate::transcript::forward::Forward;

pub(super) use transcript::{RESPONSE, answer};

pub(super) const GEMINI: Adapter = Adapter {
    agent: Agent::Gemini,
    program: "gemini",
    event,
    notifications: Notifications {
        dialog: Some("ToolPermission"),
        idle: None,
    },
    variables: Variables {
        session: Some("GEMINI_SESSION_ID"),
        project: Some("GEMINI_PROJECT_DIR"),
        pid: None,
    },
    peel: |text| element(text, "hook_context").map(|(inner, after)| [after, inner]),
    tools: &tools::TOOLS,
    forward: Forward::Whole(transcript::whole),
    library: Library {
        project_file: Some(ProjectFile {
            path: "../.project_root",
            pointer: None,
        }),
        ..Library::of("GEMINI_CLI_HOME", "", &TRANSCRIPTS)
    },
    reply_form: ReplyForm::Deny,
    tool_form: Some(ReplyForm::Deny),
    ignored_start: Some(IgnoredStart {
        source: "clear",
        prompt_hook: "BeforeAgent",
    }),
    composer: Some(ComposerForm {
        find: composer,
        stands_for: |shown, pasted| {
            let lines = pasted.matches('\n').count() + 1;
            let chars = pasted.chars().count();
            shown == format!("[Pasted Text: {lines} lines]")
                || shown == format!("[Pasted Text: {chars} chars]")
        },
    }),
    ..DEFAULT
};

const TRANSCRIPTS: [&str; 2] = [
    ".gemini/tmp/*/chats/session-*.jsonl",
    ".gemini/tmp/*/chats/session-*.json",
];

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        "BeforeAgent" => payload.prompt(host),
        "BeforeTool" => common::event("PreToolUse", host, payload, tools),
        "AfterTool" => common::event("PostToolUse", host, payload, tools),
        // The only sign of an interrupt; continuing the agent then would be against its user's will.
        "AfterAgent" if payload.text("prompt_response") == Some("[no response text]") => {
            common::interrupted(host, "user")
        }
        "AfterAgent" => payload.stop(host, "prompt_response"),
        "Notification" => payload.notification(host),
        // The automatic one comes before every model call, whether it compresses or not.
        "PreCompress" if payload.text("trigger") == Some("manual") => Event::CompactionStarted {
            host,
            trigger: "manual".into(),
        },
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" | "PreCompress" => {
            Event::ModelStepped { host }
        }
        "SessionStart" | "SessionEnd" => common::event(hook, host, payload, tools),
        _ => Event::OtherHook { host },
    }
}

/// How many rows there are at most between the upper rule and the first line.
const RULE_ROWS: usize = 4;
/// The column at which the text begins at most: in a frame.
const START_MAX: usize = 4;

/// What Gemini CLI writes into an empty composer without dimming it.
const HINTS: [&str; 2] = ["Type your message", "Type your shell command"];

/// Finds ` > text` below a rule, or in a frame; ` * text` if it asks for no permission (`--yolo`). Behind ` ! ` it takes
/// shell commands, so that is not a composer.
fn composer<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (first, last, start) = open_composer(rows, view, &['>', '*'], START_MAX)?;
    let has_rule = (first.saturating_sub(RULE_ROWS)..first).any(|at| is_rule(&rows[at]));
    let asks = rows[last..].iter().any(is_choice);
    let at_start = view.cursor == (start, first);
    (has_rule && !asks).then(|| TextBox::new(&rows[first..last], start, at_start, &HINTS))
}
