//! Pi.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};

use super::adapter::{Adapter, Library, Variables};
use crate::hooks::payload::Payload;
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

#[derive(Debug)]
pub(super) struct Pi;

impl Adapter for Pi {
    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    /// The plugin gives it to commands.
    fn variables(&self) -> Variables {
        Variables {
            session: Some("CHECKPOINTD_PI_SESSION"),
            ..Variables::default()
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
            home_variable: "PI_CODING_AGENT_DIR",
            home_default: ".pi/agent",
            patterns: &["sessions/*/*.jsonl"],
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
        "pi"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@mariozechner/pi-coding-agent"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "`init` writes an extension, which calls the hook client and sends the checkpoint as a message.",
            "It never asks for permission, so there is no dialog to wait for.",
            "A new session gets no summary of unfinished work.",
            "Its turns have no ids, so a message that is typed while it works begins a new turn.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
