//! The `/checkpoint` and `/handoff` commands that agents offer their users: a prompt in a file of its own.

use std::path::{Path, PathBuf};

use journal::Agent;
use serde_json::json;

/// A command: its name, what it is for, and what the agent is told.
struct Prompt {
    name: &'static str,
    description: &'static str,
    text: &'static str,
}

const PROMPTS: [Prompt; 2] = [
    Prompt {
        name: "checkpoint",
        description: "Write down where the work stands",
        text: include_str!("commands/checkpoint.md"),
    },
    Prompt {
        name: "handoff",
        description: "Write down all that the next session needs to go on",
        text: include_str!("commands/handoff.md"),
    },
];

/// Where the prompt's text has what the user typed behind the command.
const ARGUMENTS: &str = "{arguments}";

/// Returns the files of an agent's commands with their texts.
pub(super) fn files(agent: Agent, folder: &Path) -> Vec<(PathBuf, String)> {
    let folder = folder.join(if agent == Agent::Codex {
        "prompts"
    } else {
        "commands"
    });
    let file = |prompt: &Prompt| {
        if agent == Agent::Gemini {
            // JSON's strings are TOML's too; a literal block keeps the text readable.
            let description = json!(prompt.description);
            let text = prompt.text.replace(ARGUMENTS, "{{args}}");
            (
                folder.join(format!("{}.toml", prompt.name)),
                format!("description = {description}\nprompt = '''\n{text}'''\n"),
            )
        } else {
            let text = prompt.text.replace(ARGUMENTS, "$ARGUMENTS");
            (
                folder.join(format!("{}.md", prompt.name)),
                format!("---\ndescription: {}\n---\n\n{text}", prompt.description),
            )
        }
    };
    PROMPTS.iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_can_read_its_commands() {
        for agent in Agent::HOSTS {
            for (path, text) in files(agent, Path::new("/x")) {
                assert!(
                    !text.contains(ARGUMENTS) && text.contains("checkpointd progress write --type"),
                    "{path:?}"
                );
                if agent == Agent::Gemini {
                    let parsed: toml_edit::Document<&str> =
                        toml_edit::Document::parse(text.as_str()).expect("TOML");
                    assert!(parsed.get("prompt").is_some() && parsed.get("description").is_some());
                }
            }
        }
    }
}
