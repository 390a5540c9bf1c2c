//! Factory droid.

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
pub(super) struct Droid;

impl Adapter for Droid {
    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn variables(&self) -> Variables {
        Variables {
            session: None,
            project: Some("FACTORY_PROJECT_DIR"),
            pid: None,
        }
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    /// `droid exec` calls no prompt hook.
    fn omits_prompts(&self) -> bool {
        true
    }

    fn library(&self) -> Library {
        Library {
            home_variable: "FACTORY_HOME_OVERRIDE",
            home_default: ".factory",
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

    fn program(&self) -> &'static str {
        "droid"
    }

    /// Its screens are not recorded.
    fn has_composer(&self) -> bool {
        false
    }

    fn composer<'a>(&self, _: &'a [Row], _: &View) -> Option<TextBox<'a>> {
        None
    }

    fn package(&self) -> &'static str {
        "droid"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "A `~/.factory/hooks.json` replaces the hooks in its settings, so `doctor` warns about that file.",
            "`droid exec` calls no prompt hook. The prompt is then read from the transcript.",
            "It calls no hook after a command that failed. How the command ended is read from the transcript.",
            "Its terminal view and resumed sessions are not tested, because they need an account.",
        ]
    }

    fn stands_for(&self, _: &str, _: &str) -> bool {
        false
    }
}
