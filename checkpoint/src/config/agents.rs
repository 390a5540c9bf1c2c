//! Agents that the user describes: those whose hooks are called as Claude Code calls its own, or nearly so.

use std::collections::{BTreeMap, HashSet};

use agents::hooks::Described;
use journal::{Agent, AgentName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ConfigError;
use super::paths::UserPath;
use super::text::from_text;
use super::values::{ResumeLine, VariableName};
use super::yaml::Name;

/// Names that mean something else in the place of an agent's.
const TAKEN: [&str; 6] = [
    "daemon",
    "notify",
    Agent::PERSON,
    "run",
    "statusline",
    "unknown",
];

/// The agents that a configuration describes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DescribedAgents(Vec<DescribedAgent>);

impl DescribedAgents {
    /// No agents, for readers of calls of known agents only.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// Returns all of them in order.
    pub fn iter(&self) -> impl Iterator<Item = (Agent, &DescribedAgent)> {
        self.0.iter().filter_map(|one| Some((one.agent()?, one)))
    }

    /// Returns the description of an agent.
    pub fn of(&self, agent: Agent) -> Option<&DescribedAgent> {
        self.iter()
            .find(|(one, _)| *one == agent)
            .map(|(_, described)| described)
    }

    /// Returns the agent with a name: a described one, or one that this product knows. A person's runs have one, too.
    pub fn named(&self, word: &str) -> Option<Agent> {
        let described = || self.iter().find(|(agent, _)| agent.word() == word);
        let person = || (word == Agent::PERSON).then(Agent::person);
        let known = Agent::host(word).or_else(person);
        known.or_else(|| described().map(|(agent, _)| agent))
    }

    /// Returns the words of all agents, separated by commas.
    pub fn words(&self) -> String {
        let own = self.0.iter().map(|one| one.name.text.as_str());
        Agent::WORDS
            .into_iter()
            .chain(own)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Refuses names that cannot be an agent's, are another agent's, or occur twice.
    pub(super) fn check(&self, file: &str, text: &str) -> Result<(), ConfigError> {
        let mut seen = HashSet::new();
        for Name {
            text: name,
            line,
            column,
        } in self.0.iter().map(|one| &one.name)
        {
            let problem = match AgentName::new(name) {
                Err(problem) => problem.to_string(),
                Ok(_) if Agent::host(name).is_some() => {
                    format!("`{name}` is an agent that checkpointd knows already")
                }
                Ok(_) if TAKEN.contains(&name.as_str()) => {
                    format!(
                        "`{name}` cannot be an agent's name: checkpointd uses it for something else"
                    )
                }
                Ok(_) if !seen.insert(name) => format!("`{name}` is described twice"),
                Ok(_) => continue,
            };
            return Err(ConfigError::at(file, text, *line, *column, problem));
        }
        Ok(())
    }
}

impl Described for DescribedAgents {
    fn translate(&self, agent: Agent, payload: &mut Value) {
        let (Some(described), Some(fields)) = (self.of(agent), payload.as_object_mut()) else {
            return;
        };
        for (usual, own) in &described.fields {
            if let Some(value) = fields.remove(&own.0) {
                fields.insert(usual.word().to_owned(), value);
            }
        }
        if let Some(Value::String(tool)) = fields.get_mut("tool_name") {
            let mut known = described.tools.iter();
            if let Some((usual, _)) =
                known.find(|(_, names)| names.iter().any(|name| name.0 == *tool))
            {
                *tool = usual.word().to_owned();
            }
        }
    }
}

/// An agent, by its differences from Claude Code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedAgent {
    /// Its word on command lines, in URLs and in answers.
    pub name: Name,
    /// The file with its user's hooks.
    pub settings: UserPath,
    /// The folder of the file with a project's hooks, which has the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectFolder>,
    /// How the hooks are written in that file.
    #[serde(default)]
    pub format: HooksFormat,
    /// The form in which it is told to continue.
    #[serde(default)]
    pub reply: StopReply,
    /// The hooks that are installed.
    #[serde(default = "usual_events")]
    pub events: Vec<HookName>,
    /// Fields of its payloads that have other names, by their usual names.
    #[serde(default)]
    pub fields: BTreeMap<UsualField, ForeignName>,
    /// Its tools, by what they do.
    #[serde(default)]
    pub tools: BTreeMap<UsualTool, Vec<ForeignName>>,
    /// Its transcripts, if they have Claude Code's form; `*` matches any part of one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<UserPath>,
    /// Variables that it sets for its hooks, and no other agent does.
    #[serde(default)]
    pub variables: Vec<VariableName>,
    /// The command that resumes a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<ResumeLine>,
}

impl DescribedAgent {
    /// Returns the agent; none if its name cannot be one, which no configuration that was read has.
    pub fn agent(&self) -> Option<Agent> {
        AgentName::new(&self.name.text).ok().map(Agent::Configured)
    }
}

/// How hooks are written in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HooksFormat {
    /// In groups with a matcher, among other settings, as Claude Code has them.
    #[default]
    Groups,
    /// One command after the other, in a file of our own.
    Flat,
}

/// The form of the reply that makes an agent continue at its stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReply {
    /// `{"decision": "block", "reason": ..}`.
    #[default]
    Block,
    /// `{"decision": "deny", "reason": ..}`.
    Deny,
    /// `block` within `hookSpecificOutput`.
    Nested,
}

journal::words! {
    /// A field of payloads that an agent may call by another name.
    #[derive(PartialOrd, Ord)]
    pub enum UsualField {
        /// The session's id.
        SessionId = "session_id",
        /// The id of the turn.
        PromptId = "prompt_id",
        /// The folder in which the agent works.
        Cwd = "cwd",
        /// The transcript's path.
        TranscriptPath = "transcript_path",
        /// What a person wrote.
        Prompt = "prompt",
        /// The tool.
        ToolName = "tool_name",
        /// What the tool is to do.
        ToolInput = "tool_input",
        /// What came of it.
        ToolResponse = "tool_response",
        /// The id of the call.
        ToolUseId = "tool_use_id",
        /// The agent's last words.
        LastAssistantMessage = "last_assistant_message",
    }
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsualTool {
    /// It runs a command line.
    Shell,
    /// It reads files.
    Read,
    /// It changes files.
    Edit,
    /// It writes whole files.
    Write,
}

impl UsualTool {
    /// Returns the name under which the tools that do this are journaled: Claude Code's.
    const fn word(self) -> &'static str {
        match self {
            Self::Shell => "Bash",
            Self::Read => "Read",
            Self::Edit => "Edit",
            Self::Write => "Write",
        }
    }
}

/// The name of a hook: one word, because it is part of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookName(pub String);

impl HookName {
    /// The longest name in bytes. The hook client takes longer words for a payload.
    pub const BYTES_MAX: usize = 64;
}

from_text!(HookName, "the name of a hook", |text: String| {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain && (1..=Self::BYTES_MAX).contains(&text.len()) {
        return Ok(Self(text));
    }
    Err(format!(
        "`{text}` is not the name of a hook: use at most {} letters, digits, and `_`",
        Self::BYTES_MAX
    ))
});

/// A name of the agent's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignName(pub String);

from_text!(ForeignName, "a name", |text: String| {
    if (1..=128).contains(&text.len()) {
        return Ok(Self(text));
    }
    Err("a name has 1 to 128 bytes")
});

/// A folder within any project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectFolder(pub String);

from_text!(
    ProjectFolder,
    "a folder such as `.agent`",
    |text: String| {
        let is_plain = |part: &str| !["", ".", ".."].contains(&part) && !part.contains('\0');
        if text.split('/').all(is_plain) {
            return Ok(Self(text));
        }
        Err(format!(
            "`{text}` must name a folder within the project, without `..`"
        ))
    }
);

/// The hooks of nearly all agents that copy Claude Code's.
fn usual_events() -> Vec<HookName> {
    let names = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "SessionEnd",
    ];
    names.map(|name| HookName(name.to_owned())).to_vec()
}
