//! Hook calls of the three hosts to events: the only place that knows their payloads' fields.
//!
//! Wire type in, domain type out. An unknown event is kept and means nothing; only a payload that cannot be attributed
//! to a session is refused, with a sentence for the caller.

use journal::{Agent, Draft, Event, Host, Place, Stream, Timestamp, ToolCall};
use serde_json::Value;
use uuid::Uuid;

use crate::redact::Redactor;
use crate::{digest, prompts, text, tools};

/// A hook call as it arrived.
#[derive(Clone, Debug)]
pub struct HookCall<'a> {
    /// The agent, from the command line or the URL.
    pub agent: Agent,
    /// The event's name, where the caller gave one.
    pub event: Option<&'a str>,
    /// The payload as the host sent it.
    pub payload: &'a [u8],
    /// When the hook was called.
    pub at: Timestamp,
    /// The call's own id.
    pub id: Uuid,
    /// Hook-relevant environment variables.
    pub env: Vec<(String, String)>,
    /// The client could not read all of the payload.
    pub truncated: bool,
}

/// How a payload is read and kept.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// First words of our own texts.
    pub prefix: &'a str,
    /// The largest payload that is kept whole, in bytes.
    pub payload_bytes_max: usize,
    /// Takes secrets out, before anything else is read.
    pub redactor: &'a Redactor,
}

/// A hook call in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normal {
    /// The event to append.
    pub draft: Draft,
    /// Identifies the content: two calls of a doubly registered hook have the same.
    pub content: Uuid,
}

/// Reads a hook call.
///
/// # Errors
///
/// One sentence that says what is wrong with the payload.
pub fn normalise(call: &HookCall<'_>, reading: Reading<'_>) -> Result<Normal, String> {
    if call.payload.iter().all(u8::is_ascii_whitespace) {
        return Err("the payload is empty".into());
    }
    let mut value: Value = serde_json::from_slice(call.payload).map_err(|error| {
        let cut = if call.truncated {
            " (it was cut off while it was read)"
        } else {
            ""
        };
        format!("the payload is not JSON: {error}{cut}")
    })?;
    if !value.is_object() {
        return Err("the payload is not a JSON object".into());
    }
    let raw = String::from_utf8_lossy(call.payload);
    let redacted = reading.redactor.payload(&mut value, &raw);
    let payload = Payload {
        value: &value,
        agent: call.agent,
    };
    let stream = Stream::of_native(call.agent, &payload.session(&call.env)?);
    let hook = payload.hook(call.event)?;
    let event = payload.event(&hook, call, reading);
    let id = payload.identity(&stream, &hook, &event).unwrap_or(call.id);
    let content = Uuid::new_v5(
        &stream.session,
        &[hook.as_bytes(), &[0], call.payload].concat(),
    );
    let payload = Some(keep_payload(
        redacted.as_deref().unwrap_or(&raw).trim(),
        reading.payload_bytes_max,
    ));
    Ok(Normal {
        draft: Draft {
            stream,
            at: call.at,
            id,
            event,
            payload,
        },
        content,
    })
}

/// Returns a payload as it is kept: whole, or over the bound its head, tail, length and hash.
pub fn keep_payload(raw: &str, bytes_max: usize) -> String {
    if raw.len() <= bytes_max {
        return raw.to_owned();
    }
    let half = bytes_max / 2;
    let cut = serde_json::json!({
        "checkpointd_cut": {
            "bytes": raw.len(),
            "xxh3": format!("{:016x}", digest::of_text(raw)),
            "head": text::head(raw, half),
            "tail": text::tail(raw, half),
        }
    });
    cut.to_string()
}

/// A payload with the dialect it is in.
struct Payload<'a> {
    value: &'a Value,
    agent: Agent,
}

impl Payload<'_> {
    fn text(&self, field: &str) -> Option<&str> {
        self.value.get(field).and_then(Value::as_str)
    }

    fn owned(&self, field: &str) -> String {
        self.text(field).unwrap_or_default().to_owned()
    }

    fn flag(&self, field: &str) -> bool {
        self.value
            .get(field)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    fn is_notify(&self) -> bool {
        self.agent == Agent::Codex
            && self.text("type").is_some()
            && self.text("thread-id").is_some()
    }

    fn session(&self, env: &[(String, String)]) -> Result<String, String> {
        let field = if self.is_notify() {
            "thread-id"
        } else {
            "session_id"
        };
        let variable = match self.agent {
            Agent::Claude => "CLAUDE_CODE_SESSION_ID",
            Agent::Gemini => "GEMINI_SESSION_ID",
            _ => "",
        };
        let from_env = || {
            env.iter()
                .find(|(name, _)| name == variable)
                .map(|(_, value)| value.as_str())
        };
        match self.text(field).or_else(from_env).map(str::trim) {
            Some(id) if !id.is_empty() && id.len() <= 512 => Ok(id.to_owned()),
            _ => Err(format!("the payload has no `{field}`")),
        }
    }

    fn hook(&self, given: Option<&str>) -> Result<String, String> {
        let name = if self.is_notify() {
            Some("notify")
        } else {
            self.text("hook_event_name").or(given)
        };
        match name.map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => Ok(text::head(name, 128).to_owned()),
            None => Err("the payload has no `hook_event_name`, and the call named no event".into()),
        }
    }

    fn event(&self, hook: &str, call: &HookCall<'_>, reading: Reading<'_>) -> Event {
        let host = self.host(hook, call);
        match (self.agent, hook) {
            (_, "SessionStart") => Event::SessionStarted {
                host,
                source: self.owned("source"),
            },
            (_, "SessionEnd") => Event::SessionEnded {
                host,
                reason: self.owned("reason"),
            },
            (Agent::Claude | Agent::Codex, "UserPromptSubmit") | (Agent::Gemini, "BeforeAgent") => {
                let prompt = self.text("prompt").unwrap_or_default();
                Event::PromptSubmitted {
                    origin: prompts::origin(
                        self.agent,
                        prompt,
                        reading.prefix,
                        host.subagent.is_some(),
                    ),
                    text: text::head(prompt, Event::TEXT_BYTES_MAX).to_owned(),
                    digest: digest::of_prompt(prompt),
                    host,
                }
            }
            (Agent::Claude | Agent::Codex, "PreToolUse") | (Agent::Gemini, "BeforeTool") => {
                Event::ToolStarted {
                    host,
                    call: self.tool(call.at),
                }
            }
            (Agent::Claude | Agent::Codex, "PostToolUse") | (Agent::Gemini, "AfterTool") => {
                Event::ToolFinished {
                    host,
                    call: self.finished_tool(call.at),
                }
            }
            (Agent::Claude, "PostToolUseFailure") => Event::ToolFailed {
                host,
                call: self.finished_tool(call.at),
            },
            (Agent::Claude, "PermissionDenied") => {
                let refused = ToolCall {
                    finished: true,
                    refused: true,
                    ..self.tool(call.at)
                };
                Event::ToolFinished {
                    host,
                    call: refused,
                }
            }
            (Agent::Claude | Agent::Codex, "PermissionRequest") => Event::PermissionAsked {
                host,
                call: self.tool(call.at),
            },
            (Agent::Claude | Agent::Codex, "Stop")
            | (Agent::Gemini, "AfterAgent")
            | (Agent::Codex, "notify") => self.stop(host, hook),
            (Agent::Claude, "StopFailure") => Event::Interrupted {
                host,
                cause: "api_error".into(),
            },
            (Agent::Codex, "Interrupt") => Event::Interrupted {
                host,
                cause: "user".into(),
            },
            (Agent::Claude | Agent::Gemini, "Notification") => Event::Notified {
                host,
                notification: self.owned("notification_type"),
                message: text::head(
                    self.text("message").unwrap_or_default(),
                    Event::TEXT_BYTES_MAX,
                )
                .to_owned(),
            },
            (Agent::Claude | Agent::Codex, "PreCompact") => Event::CompactionStarted {
                host,
                trigger: self.owned("trigger"),
            },
            // Gemini's automatic one comes before every model call, whether it compresses or not.
            (Agent::Gemini, "PreCompress") if self.text("trigger") == Some("manual") => {
                Event::CompactionStarted {
                    host,
                    trigger: "manual".into(),
                }
            }
            (Agent::Claude | Agent::Codex, "PostCompact") => Event::CompactionFinished {
                host,
                trigger: self.owned("trigger"),
            },
            (Agent::Claude | Agent::Codex, "SubagentStart") => Event::SubagentStarted {
                host,
                subagent_type: self.owned("agent_type"),
            },
            (Agent::Claude | Agent::Codex, "SubagentStop") => Event::SubagentStopped {
                host,
                subagent_type: self.owned("agent_type"),
            },
            (Agent::Claude, "MessageDisplay")
            | (
                Agent::Gemini,
                "BeforeModel" | "AfterModel" | "BeforeToolSelection" | "PreCompress",
            ) => Event::ModelStepped { host },
            _ => Event::OtherHook { host },
        }
    }

    fn host(&self, hook: &str, call: &HookCall<'_>) -> Host {
        let turn = ["prompt_id", "turn_id", "turn-id"]
            .iter()
            .find_map(|field| self.text(field));
        // MessageDisplay's own `turn_id` is another thing than the turn; Claude's is always `prompt_id`.
        let turn = if self.agent == Agent::Claude {
            self.text("prompt_id")
        } else {
            turn
        };
        let subagent = self.text("agent_id").filter(|id| !id.is_empty());
        // Tool and model events are many, and what they would say of the place the others say too.
        let says_place = !matches!(
            hook,
            "PreToolUse"
                | "PostToolUse"
                | "PostToolUseFailure"
                | "PostToolBatch"
                | "BeforeTool"
                | "AfterTool"
                | "BeforeModel"
                | "AfterModel"
                | "BeforeToolSelection"
                | "MessageDisplay"
                | "PreCompress"
        );
        let place = says_place.then(|| Place {
            cwd: self.owned("cwd"),
            transcript: self
                .text("transcript_path")
                .filter(|path| !path.is_empty())
                .map(str::to_owned),
            env: call.env.clone(),
        });
        Host {
            hook: hook.to_owned(),
            turn: turn.map(str::to_owned),
            subagent: subagent.map(str::to_owned),
            place,
        }
    }

    fn stop(&self, host: Host, hook: &str) -> Event {
        let last = [
            "last_assistant_message",
            "prompt_response",
            "last-assistant-message",
        ]
        .iter()
        .find_map(|field| self.text(field));
        // Gemini's only sign of an interrupt; continuing the agent then would be against its user's will.
        if self.agent == Agent::Gemini && last == Some("[no response text]") {
            return Event::Interrupted {
                host,
                cause: "user".into(),
            };
        }
        let running = |task: &&Value| {
            task.get("status")
                .and_then(Value::as_str)
                .is_none_or(|s| s == "running")
        };
        let tasks = self.value.get("background_tasks").and_then(Value::as_array);
        Event::AgentStopped {
            host,
            reentry: self.flag("stop_hook_active"),
            background_tasks: tasks.map_or(0, |tasks| {
                u32::try_from(tasks.iter().filter(running).count()).unwrap_or(0)
            }),
            can_reply: hook != "notify",
            prompt_digest: self
                .text("prompt")
                .or_else(|| self.last_input())
                .map(digest::of_prompt),
            last_message: last.map(|last| text::tail(last, Event::TEXT_BYTES_MAX).to_owned()),
        }
    }

    /// Returns the last message that a Codex `notify` says its turn was given.
    fn last_input(&self) -> Option<&str> {
        self.value
            .get("input-messages")?
            .as_array()?
            .last()?
            .as_str()
    }

    fn tool(&self, at: Timestamp) -> ToolCall {
        let name = self.text("tool_name").unwrap_or_default();
        let (kind, command, paths) = tools::describe(
            self.agent,
            name,
            self.value.get("tool_input").unwrap_or(&Value::Null),
        );
        let mut call = ToolCall {
            id: self.text("tool_use_id").map(str::to_owned),
            tool: text::head(name, 256).to_owned(),
            kind,
            command,
            paths,
            at,
            duration_ms: self.value.get("duration_ms").and_then(Value::as_u64),
            ..ToolCall::default()
        };
        tools::bound(&mut call);
        call
    }

    fn finished_tool(&self, at: Timestamp) -> ToolCall {
        let call = self.tool(at);
        let outcome =
            tools::hook_outcome(self.agent, call.kind, call.command.as_deref(), self.value);
        let mut call = ToolCall {
            finished: true,
            is_error: outcome.is_error,
            refused: outcome.refused,
            output: outcome.output,
            ..call
        };
        tools::bound(&mut call);
        call
    }

    /// Returns the identity that the host itself gives a call, so that a doubly registered hook is one event.
    fn identity(&self, stream: &Stream, hook: &str, event: &Event) -> Option<Uuid> {
        let host = event.host()?;
        let turn = host.turn.as_deref().unwrap_or_default();
        let subagent = host.subagent.as_deref().unwrap_or_default();
        let own = match event {
            Event::PromptSubmitted { digest, .. } if host.turn.is_some() => digest.to_string(),
            Event::AgentStopped {
                can_reply: false, ..
            } if host.turn.is_some() => String::new(),
            _ => self.text("tool_use_id")?.to_owned(),
        };
        let name = [hook, turn, subagent, &own].join("\0");
        Some(Uuid::new_v5(&stream.session, name.as_bytes()))
    }
}
