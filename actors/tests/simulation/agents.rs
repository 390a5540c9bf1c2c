//! The agents: what a hook call of each looks like.

use std::time::Duration;

use actors::ingest::{Accepted, Refusal};
use journal::{Agent, Stream, Timestamp};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::plan::Hook;

/// First words of every message of a person, and of nobody else's text: who wrote a prompt is told by them here, and by
/// the program in its own way.
pub(crate) const PERSON: &str = "person, message ";

/// A hook call that an agent made.
pub(crate) struct Call {
    pub(crate) session: usize,
    pub(crate) hook: Hook,
    pub(crate) payload: String,
    pub(crate) at: Timestamp,
    pub(crate) id: Uuid,
    /// Where its outcome comes, while somebody waits for that.
    pub(crate) outcome: Option<oneshot::Receiver<Result<Accepted, Refusal>>>,
    /// When it has waited for too long, by the run's clock; none before it was taken notice of.
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
        let gemini = self.agent == Agent::Gemini;
        let names =
            |usual: &'static str, geminis: &'static str| if gemini { geminis } else { usual };
        let prompt = |text: String| {
            (
                names("UserPromptSubmit", "BeforeAgent"),
                json!({ "prompt": text }),
            )
        };
        let (name, fields) = match hook {
            Hook::Start => {
                let sources = ["resume", "startup", "clear", "compact"];
                (
                    "SessionStart",
                    json!({ "source": sources[self.turn as usize % sources.len()] }),
                )
            }
            Hook::End => ("SessionEnd", json!({ "reason": "exit" })),
            Hook::Person => {
                self.turn += 1;
                let quote = if number.is_multiple_of(5) {
                    format!("\n> {prefix}as you said")
                } else {
                    String::new()
                };
                prompt(format!("{PERSON}{number}{quote}"))
            }
            Hook::Own => prompt(match number % 3 {
                0 => format!("{prefix}checkpoint {number}"),
                1 => format!("Stop hook feedback:\n{prefix}checkpoint {number}"),
                _ => format!(
                    "<hook_prompt hook_run_id=\"stop:{number}\">{prefix}checkpoint</hook_prompt>"
                ),
            }),
            Hook::Host => prompt(format!(
                "<task-notification>\n<task-id>{number}</task-id>\n</task-notification>"
            )),
            Hook::Subagent => {
                let (name, mut fields) = prompt(format!("subtask {number}"));
                fields["agent_id"] = json!("sub-1");
                // Gemini's hooks do not tell of subagents.
                if gemini {
                    ("Told", json!({}))
                } else {
                    (name, fields)
                }
            }
            Hook::Tool => {
                self.tools += 1;
                let before = self.tools % 2 == 1;
                let name = if before {
                    names("PreToolUse", "BeforeTool")
                } else {
                    names("PostToolUse", "AfterTool")
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
                (names("Stop", "AfterAgent"), fields)
            }
            Hook::Notify if self.agent == Agent::Codex => {
                let turn = format!("turn-{}", self.turn);
                let notify = json!({
                    "type": "agent-turn-complete", "thread-id": self.native, "turn-id": turn, "cwd": "/nowhere",
                    "number": number,
                });
                return notify.to_string();
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
        };
        let mut payload =
            json!({ "session_id": self.native, "cwd": "/nowhere", "hook_event_name": name });
        match self.agent {
            Agent::Claude => payload["prompt_id"] = json!(format!("turn-{}", self.turn)),
            Agent::Codex => payload["turn_id"] = json!(format!("turn-{}", self.turn)),
            _ => {}
        }
        payload["number"] = json!(number);
        for (key, value) in fields.as_object().into_iter().flatten() {
            payload[key] = Value::clone(value);
        }
        payload.to_string()
    }
}
