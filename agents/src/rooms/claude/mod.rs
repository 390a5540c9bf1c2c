//! Claude Code.

mod tools;
mod transcript;

use journal::{Agent, Event, Host, ReplyForm, ToolCall};

use crate::adapter::{
    Adapter, ComposerForm, DEFAULT, HeadlessSign, Library, Notifications, SubagentTranscripts,
    Variables,
};
use crate::hooks::common;
use crate::hooks::payload::Payload;
use crate::prompts::{FEEDBACK, element};
use crate::terminal::text_box::between_rules;
use crate::tools::Tools;
use crate::transcript::forward::{Forward, Lines};

pub(super) const CLAUDE: Adapter = Adapter {
    agent: Agent::Claude,
    program: "claude",
    event,
    notifications: Notifications {
        dialog: Some("permission_prompt"),
        idle: Some("idle_prompt"),
    },
    // A shell runs until it is stopped (a development server), or the agent learns about its end in its next turn; a
    // monitor waits for what may never come; a teammate is listed as running also when it is idle. Every other kind of task is part of the agent's work and hands its result to
    // the agent.
    task_returns: Some(|task| {
        let kind = task.get("type")?.as_str()?;
        Some(!matches!(kind, "shell" | "monitor" | "teammate"))
    }),
    variables: Variables {
        session: Some("CLAUDE_CODE_SESSION_ID"),
        project: Some("CLAUDE_PROJECT_DIR"),
        pid: Some("CLAUDE_PID"),
    },
    peel,
    tools: &tools::TOOLS,
    forward: Forward::lines(|| &tools::KNOWN, transcript::line),
    subagents: Some(SubagentTranscripts {
        files: &["SESSION/subagents/agent-ID.jsonl", "agent-ID.jsonl"],
        lines: Lines {
            known: || &tools::KNOWN,
            line: transcript::subagent_line,
        },
    }),
    library: Library::of("CLAUDE_CONFIG_DIR", ".claude", &["projects/*/*.jsonl"]),
    headless: |place| HeadlessSign::Known(place.env("CLAUDE_CODE_ENTRYPOINT") == Some("sdk-cli")),
    context_since: Some([2, 1, 163]),
    composer: Some(ComposerForm {
        // In older versions it is `> text` in a frame.
        find: |rows, view| between_rules(rows, view, &['❯', '>'], &HINTS),
        stands_for: |shown, pasted| {
            let breaks = pasted.matches('\n').count();
            shown.strip_prefix("[Pasted text #").is_some_and(|rest| {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                rest == format!(" +{breaks} lines]")
            })
        },
    }),
    tool_form: Some(ReplyForm::Tool),
    part_hooks: &["SubagentStop", "TaskCompleted", "TeammateIdle"],
    ..DEFAULT
};

/// What Claude Code writes into an empty composer without dimming it.
const HINTS: [&str; 2] = ["Press up to edit queued messages", "Try \""];

fn event(hook: &str, host: Host, payload: &Payload<'_>, tools: &Tools) -> Event {
    match hook {
        "PermissionDenied" => Event::ToolFinished {
            host,
            call: ToolCall {
                finished: true,
                refused: true,
                ..payload.tool(tools)
            },
        },
        // A command in a skill's text; it runs before the skill is read, and no other hook reports it.
        "PreSkillShellCommand" => Event::ToolStarted {
            host,
            call: payload.tool(tools),
        },
        "MessageDisplay" => Event::ModelStepped { host },
        _ => common::event_or_notification(hook, host, payload, tools),
    }
}

fn peel(text: &str) -> Option<[&str; 2]> {
    if let Some(rest) = text.strip_prefix(FEEDBACK) {
        // After exit code 2 Claude Code names the hook's command line in brackets.
        let command = rest.trim_start().strip_prefix('[');
        let command = command.and_then(|rest| rest.split_once("]: "));
        return Some([command.map_or("", |(_, reason)| reason), rest]);
    }
    if let Some(rest) = text.strip_prefix("Stop hook additional context:") {
        return Some(["", rest]);
    }
    if let Some((inner, after)) = element(text, "pasted_content") {
        // Words around a pasted text make it a quotation.
        return after.trim().is_empty().then_some(["", inner]);
    }
    element(text, "system-reminder").map(|(inner, after)| [after, inner])
}
