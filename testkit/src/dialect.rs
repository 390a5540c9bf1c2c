//! How agents call their hooks, as far as tests that treat all agents alike need it.

use journal::Agent;
use serde_json::Value;

/// Other names of hooks: the usual one, and the agent's.
type Names = &'static [(&'static str, &'static str)];

const GEMINI: Names = &[
    ("UserPromptSubmit", "BeforeAgent"),
    ("PreToolUse", "BeforeTool"),
    ("PostToolUse", "AfterTool"),
    ("Stop", "AfterAgent"),
];

const COPILOT: Names = &[
    ("SessionStart", "sessionStart"),
    ("SessionEnd", "sessionEnd"),
    ("UserPromptSubmit", "userPromptSubmitted"),
    ("PreToolUse", "preToolUse"),
    ("PostToolUse", "postToolUse"),
    ("Stop", "agentStop"),
];

const CURSOR: Names = &[
    ("SessionStart", "sessionStart"),
    ("SessionEnd", "sessionEnd"),
    ("UserPromptSubmit", "beforeSubmitPrompt"),
    ("PreToolUse", "preToolUse"),
    ("PostToolUse", "postToolUse"),
    ("Stop", "stop"),
];

const GROK: Names = &[
    ("SessionStart", "session_start"),
    ("SessionEnd", "session_end"),
    ("UserPromptSubmit", "user_prompt_submit"),
    ("PreToolUse", "pre_tool_use"),
    ("PostToolUse", "post_tool_use"),
    ("Stop", "stop"),
];

/// An agent's hook calls against Claude Code's, which tests are written in.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    names: Names,
    /// The agent's tool that runs a command.
    pub shell: &'static str,
    /// The field with the id of the turn.
    pub turn: Option<&'static str>,
    /// Rewrites a payload whose fields have the usual names. A prompt that a person sent has `typed`.
    pub rewrite: fn(&mut Value),
}

impl Dialect {
    /// Returns how an agent calls its hooks.
    pub fn of(agent: Agent) -> Self {
        let usual = Self {
            names: &[],
            shell: "Bash",
            turn: None,
            rewrite: |_| {},
        };
        match agent {
            Agent::Claude => Self {
                turn: Some("prompt_id"),
                ..usual
            },
            Agent::Codex => Self {
                turn: Some("turn_id"),
                ..usual
            },
            Agent::Gemini => Self {
                names: GEMINI,
                shell: "run_shell_command",
                ..usual
            },
            Agent::Qwen => Self {
                shell: "run_shell_command",
                turn: Some("prompt_id"),
                rewrite: |payload| {
                    if payload["typed"] == true {
                        payload["submitted_prompt"] = payload["prompt"].clone();
                    }
                },
                ..usual
            },
            Agent::Copilot => Self {
                names: COPILOT,
                shell: "bash",
                rewrite: in_camel_case,
                ..usual
            },
            Agent::OpenCode | Agent::Kilo | Agent::Pi | Agent::Dsh => Self {
                shell: "bash",
                ..usual
            },
            Agent::Droid => Self {
                shell: "Execute",
                ..usual
            },
            Agent::Vibe => Self {
                names: &[
                    ("PreToolUse", "pre_tool"),
                    ("PostToolUse", "post_tool"),
                    ("Stop", "post_agent"),
                ],
                shell: "file_system.bash",
                ..usual
            },
            Agent::Cursor => Self {
                names: CURSOR,
                shell: "Shell",
                turn: Some("generation_id"),
                ..usual
            },
            Agent::Antigravity => Self {
                shell: "run_command",
                rewrite: |payload| {
                    rename(
                        payload,
                        &[
                            ("session_id", "conversationId"),
                            ("transcript_path", "transcriptPath"),
                        ],
                    );
                },
                ..usual
            },
            Agent::OpenHands => Self {
                shell: "terminal",
                ..usual
            },
            Agent::Grok => Self {
                names: GROK,
                shell: "run_terminal_command",
                turn: Some("promptId"),
                rewrite: as_grok_says_it,
            },
            Agent::Daemon | Agent::Kimi | Agent::Configured(_) => usual,
        }
    }

    /// Returns the agent's name of a hook.
    pub fn hook<'a>(&self, usual: &'a str) -> &'a str {
        let own = self.names.iter().find(|(name, _)| *name == usual);
        own.map_or(usual, |(_, own)| own)
    }
}

/// Gives fields the names that Copilot has for them.
fn in_camel_case(payload: &mut Value) {
    rename(
        payload,
        &[
            ("session_id", "sessionId"),
            ("tool_name", "toolName"),
            ("tool_input", "toolArgs"),
        ],
    );
}

/// Gives fields the names that Grok has for them, and marks what a person sent.
fn as_grok_says_it(payload: &mut Value) {
    rename(
        payload,
        &[
            ("hook_event_name", "hookEventName"),
            ("session_id", "sessionId"),
            ("tool_name", "toolName"),
            ("tool_input", "toolInput"),
            ("tool_response", "toolResult"),
            ("transcript_path", "transcriptPath"),
        ],
    );
    payload["reason"] = "end_turn".into();
    if payload["typed"] == true {
        let typed = payload["prompt"].as_str().unwrap_or_default();
        payload["prompt"] = format!("<user_query>\n{typed}\n</user_query>").into();
    }
}

fn rename(payload: &mut Value, names: &[(&str, &str)]) {
    let fields = payload.as_object_mut().expect("an object");
    for (usual, own) in names {
        if let Some(value) = fields.remove(*usual) {
            fields.insert((*own).to_owned(), value);
        }
    }
}
