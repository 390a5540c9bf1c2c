//! opencode.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};
use serde_json::Value;

use super::adapter::{Adapter, Database, Library, Variables};
use crate::hooks::payload::Payload;
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

#[derive(Debug)]
pub(super) struct OpenCode;

impl Adapter for OpenCode {
    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn may_continue(&self, payload: &Value) -> bool {
        payload.get("can_continue").and_then(Value::as_bool) != Some(false)
    }

    /// The plugin gives it to commands.
    fn variables(&self) -> Variables {
        Variables {
            session: Some("CHECKPOINTD_OPENCODE_SESSION"),
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
            home_variable: "XDG_DATA_HOME",
            home_default: ".local/share",
            patterns: &["opencode/opencode*.db"],
            project_file: None,
        }
    }

    fn database(&self) -> Option<Database> {
        Some(transcript::DATABASE)
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
        "opencode"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "opencode-ai"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "Its settings are below `XDG_CONFIG_HOME` if that is set.",
            "`init` writes a plugin, which calls the hook client and sends the checkpoint as a message.",
            "`opencode run` ends with its first stop, so its stops pass with the reason `nobody_waiting`.",
            "A new session gets no summary of unfinished work.",
            "Its transcripts are rows of a database, which `lookback` opens for reading only. Decisions about live sessions do not use them.",
            "Its turns have no ids, so a message that is typed while it works begins a new turn.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
