//! The payload of a hook call: what all agents' payloads share.

use journal::{Event, Host, Place, PromptOrigin, Timestamp, ToolCall};
use reading::{digest, text};
use serde_json::Value;

use crate::known::Fields;
use crate::prompts::Authors;
use crate::tools::{self, Outcome, Tools};

const SESSION_BYTES_MAX: usize = 512;
const HOOK_BYTES_MAX: usize = 128;
const TOOL_BYTES_MAX: usize = 256;

/// A payload, with what is needed to read it.
#[derive(Debug)]
pub(crate) struct Payload<'a> {
    value: &'a Value,
    at: Timestamp,
    authors: &'a Authors<'a>,
}

impl<'a> Payload<'a> {
    pub(crate) const fn new(value: &'a Value, at: Timestamp, authors: &'a Authors<'a>) -> Self {
        Self { value, at, authors }
    }

    /// Returns a field that holds a string.
    pub(crate) fn text(&self, field: &str) -> Option<&'a str> {
        self.value.get(field).and_then(Value::as_str)
    }

    /// Returns a field that holds a string, empty if there is none.
    pub(crate) fn owned(&self, field: &str) -> String {
        self.text(field).unwrap_or_default().to_owned()
    }

    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.value.get(field)
    }

    pub(super) fn session(
        &self,
        fields: &Fields,
        variable: Option<&str>,
        env: &'a [(String, String)],
    ) -> Result<&'a str, String> {
        let from_env = || {
            let known = env.iter().find(|(name, _)| Some(name.as_str()) == variable);
            known.map(|(_, value)| value.as_str())
        };
        match self.text(&fields.session).or_else(from_env).map(str::trim) {
            Some(id) if !id.is_empty() && id.len() <= SESSION_BYTES_MAX => Ok(id),
            _ => Err(format!("the payload has no `{}`", fields.session)),
        }
    }

    pub(super) fn hook(
        &self,
        fields: &'static Fields,
        given: Option<&'a str>,
    ) -> Result<&'a str, String> {
        let said = || self.text("hook_event_name");
        let name = fields.hook.as_deref().or_else(said).or(given);
        match name.map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => Ok(text::head(name, HOOK_BYTES_MAX)),
            None => Err("the payload has no `hook_event_name`, and the call named no event".into()),
        }
    }

    pub(super) fn host(&self, fields: &Fields, hook: &str, env: &[(String, String)]) -> Host {
        let turn = fields.turn.iter().find_map(|field| self.text(field));
        let subagent = self.text("agent_id").filter(|id| !id.is_empty());
        let transcript = self.text("transcript_path").filter(|path| !path.is_empty());
        let place = (!fields.frequent.iter().any(|frequent| frequent == hook)).then(|| Place {
            cwd: self.owned("cwd"),
            transcript: transcript.map(str::to_owned),
            env: env.to_owned(),
        });
        Host {
            hook: hook.to_owned(),
            turn: turn.map(str::to_owned),
            subagent: subagent.map(str::to_owned),
            place,
        }
    }

    /// Returns the event of a submitted prompt, its author recognized by its text.
    pub(crate) fn prompt(&self, host: Host) -> Event {
        // A text, or a list of parts.
        let prompt = self.get("prompt").map(tools::plain).unwrap_or_default();
        self.prompt_that_says(host, &prompt)
    }

    /// Like [`Self::prompt`], of a prompt that is more than a field of its own.
    pub(crate) fn prompt_that_says(&self, host: Host, prompt: &str) -> Event {
        Event::PromptSubmitted {
            origin: self.authors.origin(prompt, host.subagent.is_some()),
            text: text::head(prompt, Event::TEXT_BYTES_MAX).to_owned(),
            digest: digest::of_prompt(prompt),
            host,
        }
    }

    /// Like [`Self::prompt`], of a hook that also reports texts that the agent wrote in its user's name.
    pub(crate) fn prompt_of(&self, host: Host, is_persons: bool) -> Event {
        let mut event = self.prompt(host);
        if let Event::PromptSubmitted { origin, .. } = &mut event
            && *origin == PromptOrigin::User
            && !is_persons
        {
            *origin = PromptOrigin::Host;
        }
        event
    }

    /// Returns the event of a turn that ended by its `cause`.
    pub(crate) fn interrupted(&self, host: Host) -> Event {
        let by_user = self.text("cause") == Some("user");
        interrupted(host, if by_user { "user" } else { "api_error" })
    }

    /// Returns the event of a stop that can be answered. `last_message` names the field with the agent's last words.
    pub(crate) fn stop(&self, host: Host, last_message: &str) -> Event {
        let tasks = self.get("background_tasks").and_then(Value::as_array);
        Event::AgentStopped {
            host,
            reentry: self.get("stop_hook_active").and_then(Value::as_bool) == Some(true),
            background_tasks: tasks.map_or(0, |tasks| {
                u32::try_from(tasks.iter().filter(|task| is_running(task)).count()).unwrap_or(0)
            }),
            can_reply: true,
            prompt_digest: self.text("prompt").map(digest::of_prompt),
            last_message: self
                .text(last_message)
                .map(|last| text::tail(last, Event::TEXT_BYTES_MAX).to_owned()),
        }
    }

    /// Returns the event of a notification that the agent shows its user.
    pub(crate) fn notification(&self, host: Host) -> Event {
        let message = self.text("message").unwrap_or_default();
        Event::Notified {
            host,
            notification: self.owned("notification_type"),
            message: text::head(message, Event::TEXT_BYTES_MAX).to_owned(),
        }
    }

    /// Returns the tool call that begins.
    pub(crate) fn tool(&self, tools: &Tools) -> ToolCall {
        let name = self.text("tool_name").unwrap_or_default();
        let input = self.get("tool_input").unwrap_or(&Value::Null);
        let (kind, command, paths) = tools.describe(name, input);
        let mut call = ToolCall {
            id: self.text("tool_use_id").map(str::to_owned),
            tool: text::head(name, TOOL_BYTES_MAX).to_owned(),
            kind,
            command,
            paths,
            at: self.at,
            duration_ms: self.get("duration_ms").and_then(Value::as_u64),
            ..ToolCall::default()
        };
        tools::bound(&mut call);
        call
    }

    /// Returns the tool call that has returned; finished, unless its result says that it goes on, or not how it ended.
    pub(crate) fn finished_tool(&self, tools: &Tools) -> ToolCall {
        let call = self.tool(tools);
        let outcome = tools.hook_outcome(call.kind, call.command.as_deref(), self.value);
        let outcome = outcome.unwrap_or(Outcome {
            finished: true,
            ..Outcome::default()
        });
        let mut call = ToolCall {
            finished: outcome.finished,
            is_error: outcome.is_error,
            refused: outcome.refused,
            output: outcome.output,
            ..call
        };
        tools::bound(&mut call);
        call
    }
}

/// Returns whether a background task that a stop lists still runs.
pub(crate) fn is_running(task: &Value) -> bool {
    let status = task.get("status").and_then(Value::as_str);
    status.is_none_or(|status| status == "running")
}

/// Returns the event of a turn that a person or an error ended.
pub(crate) fn interrupted(host: Host, cause: &str) -> Event {
    Event::Interrupted {
        host,
        cause: cause.to_owned(),
    }
}
