//! Qwen Code.

mod composer;
mod hooks;
mod prompts;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;

use journal::{Event, Host, ReplyForm};

use super::adapter::{Adapter, Library, Notifications, Variables};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

#[derive(Debug)]
pub(super) struct Qwen;

impl Adapter for Qwen {
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
            session: Some("QWEN_CODE_SESSION_ID"),
            project: Some("QWEN_PROJECT_DIR"),
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
            home_variable: "QWEN_HOME",
            home_default: ".qwen",
            patterns: &["projects/*/chats/*.jsonl"],
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

    fn program(&self) -> &'static str {
        "qwen"
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@qwen-code/qwen-code"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "Version 0.12.0 or newer is needed; 0.10.1 has no hooks. `doctor` checks it.",
            "It calls its prompt hook before each call of its model. Only a message of a person begins a turn.",
            "It does not write the checkpoint to the transcript, so a resumed session does not know it.",
            "It blocks a stop at most 7 times in a turn, regardless of `max_blocks_per_turn`.",
            "It shows the checkpoint as `Stop hook error`.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }
}
