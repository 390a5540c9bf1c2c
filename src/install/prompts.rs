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

/// Returns the files of an agent's commands with their texts, in a folder of settings: the user's, or a project's.
pub(super) fn files(
    installer: &Installer,
    folder: &Path,
    is_projects: bool,
) -> Vec<(PathBuf, String)> {
    let prompts = installer.prompts.as_ref();
    let prompts = prompts.filter(|prompts| prompts.in_projects || !is_projects);
    let files = prompts.into_iter().flat_map(|prompts| {
        PROMPTS.iter().map(|prompt| {
            let (name, text) = (prompts.file)(prompt);
            (folder.join(prompts.folder).join(name), text)
        })
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use journal::Agent;

    use super::super::agents::installer;
    use super::*;

    #[test]
    fn every_agent_can_read_its_commands() {
        for agent in Agent::HOSTS {
            for (path, text) in files(installer(agent), Path::new("/x"), false) {
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
