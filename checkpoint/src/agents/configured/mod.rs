//! Agents that the user's configuration describes. Their hooks are called as Claude Code calls its own, or nearly so.

mod hooks;
#[cfg(test)]
mod tests;
mod tools;

use journal::{Event, Host, ReplyForm};
use serde_json::Value;

use super::adapter::{Adapter, Library, Notifications, Variables};
use super::claude::Claude;
use crate::config::DescribedAgent;
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::Texts;
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::forward::Forward;

#[derive(Debug)]
pub(super) struct Configured;

/// Gives the fields and the tools of a payload the names that Claude Code has for them, so that what is journaled can be
/// read without the configuration.
pub(crate) fn translate(described: &DescribedAgent, payload: &mut Value) {
    let Some(fields) = payload.as_object_mut() else {
        return;
    };
    for (usual, own) in &described.fields {
        if let Some(value) = fields.remove(&own.0) {
            fields.insert(usual.word().to_owned(), value);
        }
    }
    if let Some(Value::String(tool)) = fields.get_mut("tool_name") {
        let mut known = described.tools.iter();
        if let Some((usual, _)) = known.find(|(_, names)| names.iter().any(|name| name.0 == *tool))
        {
            *tool = tools::name(*usual).to_owned();
        }
    }
}

impl Adapter for Configured {
    fn fields(&self, _: &Payload<'_>) -> &'static Fields {
        &hooks::FIELDS
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn notifications(&self) -> Notifications {
        Claude.notifications()
    }

    fn returning_tasks(&self, payload: &Value) -> Option<u32> {
        Claude.returning_tasks(payload)
    }

    fn variables(&self) -> Variables {
        Variables::default()
    }

    fn texts(&self) -> &'static Texts {
        Claude.texts()
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    /// The configuration names it.
    fn library(&self) -> Library {
        Library {
            home_variable: "HOME",
            home_default: "",
            patterns: &[],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Claude.forward()
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Block]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Block
    }

    /// Each has its own; see [`super::program`].
    fn program(&self) -> &'static str {
        ""
    }

    /// Their screens are not known.
    fn has_composer(&self) -> bool {
        false
    }

    fn composer<'a>(&self, _: &'a [Row], _: &View) -> Option<TextBox<'a>> {
        None
    }

    fn stands_for(&self, _: &str, _: &str) -> bool {
        false
    }

    fn package(&self) -> &'static str {
        ""
    }
}
