//! Claude Code.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, Place, ReplyForm};

use super::adapter::{
    Adapter, HeadlessSign, Library, Notifications, SubagentTranscripts, Variables,
};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

/// The first version that takes `additionalContext` at a stop.
const CONTEXT_SINCE: [u64; 3] = [2, 1, 163];

#[derive(Debug)]
pub(super) struct Claude;

impl Adapter for Claude {
    fn fields(&self, _: &Payload<'_>) -> &'static Fields {
        &hooks::FIELDS
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn notifications(&self) -> Notifications {
        Notifications {
            dialog: Some("permission_prompt"),
            idle: Some("idle_prompt"),
        }
    }

    fn returning_tasks(&self, payload: &serde_json::Value) -> Option<u32> {
        hooks::returning_tasks(payload)
    }

    fn variables(&self) -> Variables {
        Variables {
            session: Some("CLAUDE_CODE_SESSION_ID"),
            project: Some("CLAUDE_PROJECT_DIR"),
            pid: Some("CLAUDE_PID"),
        }
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    fn subagents(&self) -> Option<SubagentTranscripts> {
        Some(SubagentTranscripts {
            files: &["SESSION/subagents/agent-ID.jsonl", "agent-ID.jsonl"],
            line: transcript::subagent_line,
        })
    }

    fn library(&self) -> Library {
        Library {
            home_variable: "CLAUDE_CONFIG_DIR",
            home_default: ".claude",
            patterns: &["projects/*/*.jsonl"],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Forward::Lines(transcript::line)
    }

    fn headless(&self, place: &Place) -> HeadlessSign {
        HeadlessSign::Known(place.env("CLAUDE_CODE_ENTRYPOINT") == Some("sdk-cli"))
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Context, ReplyForm::Block]
    }

    fn reply_form(&self, setting: Reply, version: Option<&str>) -> ReplyForm {
        match setting {
            Reply::Context => ReplyForm::Context,
            Reply::Auto if takes_context(version) => ReplyForm::Context,
            Reply::Auto | Reply::Block => ReplyForm::Block,
        }
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@anthropic-ai/claude-code"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &["It gets checkpoints as `context` since version 2.1.163, before that as `block`."]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}

fn takes_context(version: Option<&str>) -> bool {
    let Some(version) = version else { return false };
    let mut parts = version
        .split(['.', '-', '+'])
        .map(|part| part.parse::<u64>().ok());
    let parts: [Option<u64>; 3] = std::array::from_fn(|_| parts.next().flatten());
    let [Some(major), Some(minor), Some(patch)] = parts else {
        return false;
    };
    [major, minor, patch] >= CONTEXT_SINCE
}
