//! The `/checkpoint` and `/handoff` slash commands: a prompt in a file of its own.

use std::path::{Path, PathBuf};

use super::installer::Installer;
use super::prompt::Prompt;

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

/// Returns the files of an agent's commands with their texts.
pub(super) fn files(installer: &dyn Installer, folder: &Path) -> Vec<(PathBuf, String)> {
    let folder = folder.join(installer.prompts_folder());
    let file = |prompt: &Prompt| {
        let (name, text) = installer.prompt_file(prompt);
        (folder.join(name), text)
    };
    let prompts: &[Prompt] = if installer.has_prompts() {
        &PROMPTS
    } else {
        &[]
    };
    prompts.iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use journal::Agent;

    use super::super::agents::installer;
    use super::*;

    #[test]
    fn every_agent_can_read_its_commands() {
        for agent in Agent::HOSTS {
            for (path, text) in files(installer(agent), Path::new("/x")) {
                assert!(
                    !text.contains("{arguments}")
                        && text.contains("checkpointd progress write --type"),
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
