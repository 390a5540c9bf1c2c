//! What is known of each agent in plain lists: `agents/known/AGENT.yml`, compiled in. What an agent computes is in its room.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use journal::ToolKind;
use serde::Deserialize;

/// The file of one agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Known {
    /// The package and the version that the tests run, as `PACKAGE@VERSION`; empty if they do not run the agent.
    pub tried: String,
    /// Where the agent's hooks are written: how the paths of these files end.
    pub hooks: Vec<String>,
    /// The tools that the agent itself has, by kind.
    pub tools: HashMap<ToolKind, Vec<String>>,
    /// The tool that runs a subagent, if the agent has no hook events for subagents.
    pub subagent: Option<String>,
    /// Openings of the result of a call that a person, a policy or a hook did not let run.
    pub refusals: Vec<String>,
    /// Openings of the answer to a call that could not be made, or did not come to its end.
    pub failures: Vec<String>,
    /// Openings of the result of a command that goes on in the background.
    pub running: Vec<String>,
    /// The fields that say where a hook call belongs.
    pub fields: Fields,
    /// Fields of hook calls that the agent names in its own way, with their usual names.
    pub renames: BTreeMap<String, String>,
    /// The same as `fields`, of calls that have another form.
    pub other_fields: Fields,
    /// Words before a status that a script prints.
    pub statuses: Vec<String>,
    /// Elements that the agent puts before a prompt.
    pub companions: Vec<String>,
    /// Openings of texts in the user's name that set the agent to work.
    pub calls_to_work: Vec<String>,
    /// Openings of texts in the user's name that ask for nothing.
    pub asides: Vec<String>,
    /// Only lines of a transcript with one of these can hold anything of interest. JSON does not escape them, so a line
    /// without any need not be parsed.
    pub marks: Vec<String>,
    /// The types of lines that transcripts have had.
    pub line_types: Vec<String>,
    /// Events where a task begins or ends. What a person types while it runs is one more message of it.
    pub task_marks: Vec<String>,
}

/// Which fields of an agent's payloads say where a call belongs.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fields {
    /// Holds the session's id.
    pub session: String,
    /// Hold the id of the turn, the first that is there counts.
    pub turn: Vec<String>,
    /// The name of the event, for payloads that have none.
    pub hook: Option<String>,
    /// Hooks that are called so often that their events leave out where the agent runs.
    pub frequent: Vec<String>,
}

impl Default for Fields {
    /// Those that most agents share: their payloads name no turn.
    fn default() -> Self {
        let frequent = "PreToolUse PostToolUse PostToolUseFailure".split(' ');
        Self {
            session: "session_id".to_owned(),
            turn: Vec::new(),
            hook: None,
            frequent: frequent.map(str::to_owned).collect(),
        }
    }
}

static NOTHING: LazyLock<Known> = LazyLock::new(Known::default);

impl Known {
    /// Returns what is known of an agent without a file.
    pub(crate) fn nothing() -> &'static Self {
        &NOTHING
    }

    /// Reads the file of an agent.
    pub(crate) fn read(agent: &str, text: &str) -> Self {
        reading::built_in(agent, text)
    }

    /// Returns the package that the tests run, and its version.
    pub fn tried(&self) -> Option<(&str, &str)> {
        self.tried.rsplit_once('@')
    }

    /// Returns whether a line of a transcript can hold anything of interest.
    pub(crate) fn marks(&self, line: &str) -> bool {
        self.marks.iter().any(|mark| line.contains(mark))
    }
}

/// Reads `known/AGENT.yml` when it is first used.
macro_rules! known {
    ($agent:literal) => {
        std::sync::LazyLock::new(|| {
            let text = include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/known/",
                $agent,
                ".yml"
            ));
            $crate::known::Known::read($agent, text)
        })
    };
}
pub(crate) use known;
