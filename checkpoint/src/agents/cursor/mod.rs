//! Cursor, by its public documentation: it was not run.

mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;

use journal::{Event, Host, Place, ReplyForm};
use serde_json::Value;

use super::adapter::{Adapter, HeadlessSign, Library, Variables};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::{Forward, Read};

#[derive(Debug)]
pub(super) struct Cursor;

impl Adapter for Cursor {
    fn fields(&self, _: &Payload<'_>) -> &'static Fields {
        &hooks::FIELDS
    }

    fn renames(&self) -> &'static [(&'static str, &'static str)] {
        &hooks::RENAMES
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn may_continue(&self, payload: &Value) -> bool {
        hooks::may_continue(payload)
    }

    fn variables(&self) -> Variables {
        Variables {
            project: Some("CURSOR_PROJECT_DIR"),
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
            home_variable: "HOME",
            home_default: ".cursor",
            patterns: &[],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Forward::Lines(|_, _, _, _| Read::Nothing)
    }

    /// The editor has no terminal. A run without a person calls no stop hook.
    fn headless(&self, _: &Place) -> HeadlessSign {
        HeadlessSign::Known(false)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::FollowUp]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::FollowUp
    }

    /// The reply to a session's start has other fields.
    fn hears_start(&self) -> bool {
        false
    }

    fn program(&self) -> &'static str {
        "cursor-agent"
    }

    /// Its screens are not recorded.
    fn has_composer(&self) -> bool {
        false
    }

    fn composer<'a>(&self, _: &'a [Row], _: &View) -> Option<TextBox<'a>> {
        None
    }

    fn package(&self) -> &'static str {
        ""
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "`init` skips it unless you name it.",
            "It submits the checkpoint as its user's next message, at most five times in a row (`loop_limit`).",
            "Failed and aborted turns get no checkpoint, nor does `cursor-agent -p`, which calls no stop hook.",
            "If it runs the hooks of Claude Code's settings, these calls are ignored.",
            "A new session gets no summary of unfinished work.",
            "`/checkpoint` and `/handoff` are not installed.",
        ]
    }

    fn stands_for(&self, _: &str, _: &str) -> bool {
        false
    }
}
