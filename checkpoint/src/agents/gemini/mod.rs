//! Gemini CLI.

mod chat;
mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};

use super::adapter::{Adapter, IgnoredStart, Library, Notifications, ProjectFile, Variables};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::{Authors, Texts};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Forward;
use crate::transcript::tail::Tail;

#[derive(Debug)]
pub(super) struct Gemini;

impl Adapter for Gemini {
    fn fields(&self, _: &Payload<'_>) -> &'static Fields {
        &hooks::FIELDS
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn notifications(&self) -> Notifications {
        Notifications {
            dialog: Some("ToolPermission"),
            ..Notifications::default()
        }
    }

    fn variables(&self) -> Variables {
        Variables {
            session: Some("GEMINI_SESSION_ID"),
            project: Some("GEMINI_PROJECT_DIR"),
            pid: None,
        }
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    fn transcript(&self, tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
        transcript::read(tail, authors)
    }

    fn library(&self) -> Library {
        Library {
            home_variable: "GEMINI_CLI_HOME",
            home_default: "",
            patterns: &[
                ".gemini/tmp/*/chats/session-*.jsonl",
                ".gemini/tmp/*/chats/session-*.json",
            ],
            project_file: Some(ProjectFile {
                path: "../.project_root",
                pointer: None,
            }),
        }
    }

    fn forward(&self) -> Forward {
        Forward::Whole(transcript::whole)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Deny]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Deny
    }

    fn ignored_start(&self) -> Option<IgnoredStart> {
        Some(IgnoredStart {
            source: "clear",
            prompt_hook: "BeforeAgent",
        })
    }

    fn program(&self) -> &'static str {
        "gemini"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@google/gemini-cli"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "It takes a shell's error about a missing program as a prompt and never stops, so each entry first checks that the hook client exists.",
            "It calls `PreCompress` before every message to its model, so that entry has the matcher `manual`.",
            "It does not report automatic compressions, so only `/compress` is preceded by a progress document.",
            "If a `gemini -p` run began with a summary of unfinished work, resuming that session loses its first message.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
