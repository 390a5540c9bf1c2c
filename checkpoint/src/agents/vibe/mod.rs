//! Mistral Vibe.

mod composer;
mod headless;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, Place, ReplyForm};

use super::adapter::{Adapter, HeadlessSign, Library, ProjectFile, Variables};
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
pub(super) struct Vibe;

impl Adapter for Vibe {
    fn fields(&self, payload: &Payload<'_>) -> &'static Fields {
        hooks::fields(payload)
    }

    fn renames(&self) -> &'static [(&'static str, &'static str)] {
        &hooks::RENAMES
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    /// The call says nothing but the session.
    fn repeats_stops(&self) -> bool {
        true
    }

    /// It sets none of its own.
    fn variables(&self) -> Variables {
        Variables::default()
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

    fn transcript_files(&self) -> Option<&'static str> {
        Some("journal")
    }

    /// It has no prompt hook.
    fn omits_prompts(&self) -> bool {
        true
    }

    fn library(&self) -> Library {
        Library {
            home_variable: "VIBE_HOME",
            home_default: ".vibe",
            patterns: &["logs/session/unified/*/journal/*.jsonl"],
            project_file: Some(ProjectFile {
                path: "../meta.json",
                pointer: Some("/environment/working_directory"),
            }),
        }
    }

    fn forward(&self) -> Forward {
        Forward::Whole(transcript::whole)
    }

    /// Its hooks have no terminal in either case.
    fn headless(&self, _: &Place) -> HeadlessSign {
        HeadlessSign::Transcript(headless::is_programmatic)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Deny]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Deny
    }

    fn hears_start(&self) -> bool {
        false
    }

    fn program(&self) -> &'static str {
        "vibe"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "mistral-vibe"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "It calls no hook for a prompt, so the prompt is read from its transcript at the stop. It calls no hook when a person interrupts it, so the session counts as running until its next stop.",
            "It has three hooks: before a tool, after a tool, and at the stop. A new session gets no summary of unfinished work.",
            "It continues a turn at most three times.",
            "It keeps only the last turns of a session, so `lookback` sees no earlier ones.",
            "`/checkpoint` and `/handoff` are not installed.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
