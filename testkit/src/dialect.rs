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
            Agent::OpenCode | Agent::Kilo | Agent::Pi => Self {
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
            Agent::OpenHands => Self {
                shell: "terminal",
                ..usual
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
    let fields = payload.as_object_mut().expect("an object");
    for (usual, own) in [
        ("session_id", "sessionId"),
        ("tool_name", "toolName"),
        ("tool_input", "toolArgs"),
    ] {
        if let Some(value) = fields.remove(usual) {
            fields.insert(own.to_owned(), value);
        }
    }
}
