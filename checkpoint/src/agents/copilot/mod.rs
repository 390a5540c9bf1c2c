//! GitHub Copilot CLI.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};

use super::adapter::{Adapter, Library, Variables};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

#[derive(Debug)]
pub(super) struct Copilot;

impl Adapter for Copilot {
    fn fields(&self, _: &Payload<'_>) -> &'static Fields {
        &hooks::FIELDS
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn renames(&self) -> &'static [(&'static str, &'static str)] {
        &hooks::RENAMES
    }

    fn variables(&self) -> Variables {
        Variables {
            session: None,
            project: Some("COPILOT_PROJECT_DIR"),
            pid: None,
        }
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    fn library(&self) -> Library {
        Library {
            home_variable: "COPILOT_HOME",
            home_default: ".copilot",
            patterns: &["session-state/*/events.jsonl"],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Forward::Lines(transcript::line)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Block]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Block
    }

    fn hears_start(&self) -> bool {
        false
    }

    fn program(&self) -> &'static str {
        "copilot"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@github/copilot"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "Version 0.0.401 or newer is needed; 0.0.400 has no hook at a stop. `doctor` checks it.",
            "`init` writes a separate hooks file, and `uninstall` removes it.",
            "It denies tool calls whose `preToolUse` hook fails, so that hook always exits with 0.",
            "It also runs the hooks of a project's `.claude/settings.json`. Those calls are ignored, because they repeat its own.",
            "It has no hook for permission dialogs, so you are not notified of them.",
            "It ends a turn after 8 blocked stops, regardless of `max_blocks_per_turn`.",
            "A new session gets no summary of unfinished work.",
            "Its turns have no ids, so a message that is typed while it works begins a new turn.",
            "`/checkpoint` and `/handoff` are not installed.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
