//! The agents: what a hook call of each looks like.

use std::time::Duration;

use actors::ingest::{Accepted, Refusal};
use journal::{Agent, Stream, Timestamp};
use serde_json::{Value, json};
use testkit::dialect::Dialect;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::plan::Hook;

/// First words of every message of a person and of no other text. The model identifies the author of a prompt by them,
/// independently of the program.
pub(crate) const PERSON: &str = "person, message ";

/// A hook call that an agent made.
pub(crate) struct Call {
    pub(crate) session: usize,
    pub(crate) hook: Hook,
    pub(crate) payload: String,
    pub(crate) at: Timestamp,
    pub(crate) id: Uuid,
    /// Receives the outcome, while the client waits for it.
    pub(crate) outcome: Option<oneshot::Receiver<Result<Accepted, Refusal>>>,
    /// When its wait times out, by the run's clock; `None` before the call was noticed.
    pub(crate) until: Option<Duration>,
    /// The place of its event, once that was acknowledged.
    pub(crate) seq: Option<u64>,
}

/// One session's agent.
pub(crate) struct Session {
    pub(crate) agent: Agent,
    native: String,
    /// Messages of persons so far; each begins a turn of its host.
    turn: u64,
    tools: u64,
}

impl Session {
    /// Begins session `number` of a seed's run.
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        let agent = Agent::HOSTS[number % Agent::HOSTS.len()];
        Self {
            agent,
            native: format!("simulated-{seed}-{number}"),
            turn: 0,
            tools: 0,
        }
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream::of_native(self.agent, &self.native)
    }

    pub(crate) fn env(&self, dead_terminals: bool) -> Vec<(String, String)> {
        let mut env = vec![("CODEX_HOME", "/nowhere"), ("TMPDIR", "/nowhere")];
        if dead_terminals {
            env.extend([("TMUX", "/nowhere/tmux,1,0"), ("TMUX_PANE", "%1")]);
        }
        env.into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Returns the payload of a call; `number` counts the run's calls.
    pub(crate) fn payload(&mut self, hook: Hook, number: u64, prefix: &str) -> String {
        if hook == Hook::Notify && self.agent == Agent::Codex {
            let notify = json!({
                "type": "agent-turn-complete", "thread-id": self.native, "turn-id": self.turn_id(),
                "cwd": "/nowhere", "number": number,
            });
            return notify.to_string();
        }
        let (name, fields) = self.fields(hook, number, prefix);
        let mut payload =
            json!({ "session_id": self.native, "cwd": "/nowhere", "hook_event_name": name });
        let dialect = Dialect::of(self.agent);
        if let Some(turn) = dialect.turn {
            payload[turn] = json!(self.turn_id());
        }
        payload["number"] = json!(number);
        for (key, value) in fields.as_object().into_iter().flatten() {
            payload[key] = Value::clone(value);
        }
        (dialect.rewrite)(&mut payload);
        payload.to_string()
    }

    fn turn_id(&self) -> String {
        format!("turn-{}", self.turn)
    }

    fn event(&self, usual: &'static str) -> &'static str {
        Dialect::of(self.agent).hook(usual)
    }

    /// Returns the name of a call's event, and the fields that only this event has.
    fn fields(&mut self, hook: Hook, number: u64, prefix: &str) -> (&'static str, Value) {
        match hook {
            Hook::Start => {
                let sources = ["resume", "startup", "clear", "compact"];
                let source = sources[self.turn as usize % sources.len()];
                ("SessionStart", json!({ "source": source }))
            }
            Hook::End => ("SessionEnd", json!({ "reason": "exit" })),
            Hook::Person | Hook::Own | Hook::Host => {
                let text = self.prompt(hook, number, prefix);
                let name = self.event("UserPromptSubmit");
                (
                    name,
                    json!({ "prompt": text, "typed": hook == Hook::Person }),
                )
            }
            // Gemini's hooks do not report subagents.
            Hook::Subagent if self.agent == Agent::Gemini => ("Told", json!({})),
            Hook::Subagent => (
                "UserPromptSubmit",
                json!({ "prompt": format!("subtask {number}"), "agent_id": "sub-1" }),
            ),
            Hook::Tool => {
                self.tools += 1;
                let name = if self.tools % 2 == 1 {
                    self.event("PreToolUse")
                } else {
                    self.event("PostToolUse")
                };
                let id = format!("call-{}", self.tools.div_ceil(2));
                (
                    name,
                    json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": "make test" } }),
                )
            }
            Hook::Stop {
                reentry,
                background,
            } => {
                let mut fields =
                    json!({ "stop_hook_active": reentry, "last_assistant_message": "done" });
                if background {
                    fields["background_tasks"] = json!([{ "status": "running" }]);
                }
                (self.event("Stop"), fields)
            }
            Hook::Notification => (
                "Notification",
                json!({ "notification_type": "idle_prompt", "message": "waits" }),
            ),
            Hook::Permission => (
                "PermissionRequest",
                json!({ "tool_name": "Bash", "tool_input": {} }),
            ),
            Hook::Interrupted => ("StopFailure", json!({})),
            Hook::Notify | Hook::Unknown => ("SomethingNew", json!({ "what": [null] })),
        }
    }

    /// Returns a prompt of a person, of checkpointd itself, or of the host.
    fn prompt(&mut self, hook: Hook, number: u64, prefix: &str) -> String {
        match hook {
            Hook::Person => {
                self.turn += 1;
                let quote = if number.is_multiple_of(5) {
                    format!("\n> {prefix}as you said")
                } else {
                    String::new()
                };
                format!("{PERSON}{number}{quote}")
            }
            Hook::Host => {
                format!("<task-notification>\n<task-id>{number}</task-id>\n</task-notification>")
            }
            _ => match number % 3 {
                0 => format!("{prefix}checkpoint {number}"),
                1 => format!("Stop hook feedback:\n{prefix}checkpoint {number}"),
                _ => format!(
                    "<hook_prompt hook_run_id=\"stop:{number}\">{prefix}checkpoint</hook_prompt>"
                ),
            },
        }
    }
}
