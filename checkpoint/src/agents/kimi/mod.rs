//! Kimi Code.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};
use serde_json::Value;

use super::adapter::{Adapter, Library, TranscriptPlace, TranscriptSearch, Variables};
use crate::hooks::payload::Payload;
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

/// The variable that holds Kimi Code's home, and the home in the user's.
const HOME: &str = "KIMI_CODE_HOME";
const HOME_DEFAULT: &str = ".kimi-code";

#[derive(Debug)]
pub(super) struct Kimi;

impl Adapter for Kimi {
    fn renames(&self) -> &'static [(&'static str, &'static str)] {
        &hooks::RENAMES
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    /// Kimi continues once in a turn.
    fn may_continue(&self, payload: &Value) -> bool {
        payload.get("stop_hook_active").and_then(Value::as_bool) != Some(true)
    }

    /// Kimi sets no variables.
    fn variables(&self) -> Variables {
        Variables::default()
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    /// Its hooks do not report the transcript's path.
    fn transcript_search(&self) -> Option<TranscriptSearch> {
        Some(TranscriptSearch {
            home_variable: HOME,
            home_default: HOME_DEFAULT,
            folder: "sessions",
            place: TranscriptPlace::InFolder {
                file: "agents/main/wire.jsonl",
            },
        })
    }

    fn library(&self) -> Library {
        Library {
            home_variable: HOME,
            home_default: HOME_DEFAULT,
            patterns: &["sessions/*/*/agents/main/wire.jsonl"],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Forward::Lines(transcript::line)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Permission]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Permission
    }

    /// It calls no prompt hook for it, and no second stop hook.
    fn takes_silently(&self) -> bool {
        true
    }

    fn hears_start(&self) -> bool {
        false
    }

    fn program(&self) -> &'static str {
        "kimi"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@moonshot-ai/kimi-code"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "It continues a turn only once: a later stop passes with the reason `nobody_waiting`. Usually no hook reports that stop, so the session counts as running until your next message.",
            "It does not show the checkpoint that answers its stop hook in its terminal.",
            "It does not wait for the hook after a tool. At the end of a turn it sends SIGTERM to those that still run, and SIGKILL 100 ms later. The hook client then spools its call. Only a call whose client had not begun by then is lost.",
            "A new session gets no summary of unfinished work.",
            "It does not start if its settings have a hook with an unknown key or event.",
            "`/checkpoint` and `/handoff` are not installed.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
