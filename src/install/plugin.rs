//! Plugins: programs of ours that an agent loads. Each is one file that is all ours.

use std::path::Path;

use journal::Agent;
use serde_json::json;

use super::change::{Entry, Kind, Status};
use super::edits::{Edit, Result};
use super::hooks::{HookEntry, command};

/// A plugin's text. The agent's word, the client's path and the time limit of a stop are in lines of their own.
pub(super) struct Plugin(pub(super) &'static str);

const AGENT: &str = "const AGENT = ";
const CLIENT: &str = "const CLIENT = ";
const STOP_MS: &str = "const STOP_MS = ";

impl Plugin {
    /// Plans the file.
    pub(super) fn edit(
        &self,
        agent: Agent,
        file: &Path,
        wanted: &[HookEntry],
        client: &Path,
    ) -> Result<Edit> {
        let stop_s = wanted.iter().map(|wanted| wanted.timeout).max();
        let after = self.text(agent, client, stop_s.unwrap_or_default());
        Edit::new(Kind::Own, file, |text| {
            let status = Status::written(!text.is_empty(), text == after);
            Ok((after, vec![Entry::new("plugin", status)]))
        })
    }

    fn text(&self, agent: Agent, client: &Path, stop_s: u64) -> String {
        let line = |line: &str| match line {
            _ if line.starts_with(AGENT) => format!("{AGENT}{}\n", json!(agent)),
            _ if line.starts_with(CLIENT) => {
                format!("{CLIENT}{}\n", json!(client.to_string_lossy()))
            }
            _ if line.starts_with(STOP_MS) => format!("{STOP_MS}{}\n", stop_s * 1000),
            _ => format!("{line}\n"),
        };
        self.0.lines().map(line).collect()
    }

    /// Returns whether a text is this plugin with any agent, any client and any time limit.
    pub(super) fn is_ours(&self, text: &str) -> bool {
        let set = [AGENT, CLIENT, STOP_MS];
        let fixed = |line: &&str| !set.iter().any(|it| line.starts_with(it));
        text.lines().filter(fixed).eq(self.0.lines().filter(fixed))
    }

    /// Returns the command line that does what the plugin in a text does for one call.
    pub(super) fn command(text: &str, arguments: &str) -> Option<String> {
        let value = text.lines().find_map(|line| line.strip_prefix(CLIENT))?;
        let client: String = serde_json::from_str(value).ok()?;
        Some(command(Path::new(&client), arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: Plugin =
        Plugin("// Ours.\nconst AGENT = \"\"\nconst CLIENT = \"/abs\"\nconst STOP_MS = 1\nrun()\n");

    #[test]
    fn paths_are_quoted_for_the_plugin_and_found_again() {
        for path in [
            "/a/checkpointd-hook",
            "/o'neil/\"x\" \\ $y/checkpointd-hook",
        ] {
            let text = PLUGIN.text(Agent::Kilo, Path::new(path), 7);
            assert!(text.contains("\nconst AGENT = \"kilo\"\n"), "{text}");
            assert!(text.contains("\nconst STOP_MS = 7000\n"), "{text}");
            let line = Plugin::command(&text, "opencode").expect("a client");
            assert_eq!(super::super::hooks::client_of(&line).as_deref(), Some(path));
            assert!(PLUGIN.is_ours(&text));
        }
    }

    #[test]
    fn a_plugin_that_was_edited_is_not_ours() {
        let text = PLUGIN.text(Agent::Kilo, Path::new("/a/checkpointd-hook"), 7);
        for other in [
            text.clone() + "more()\n",
            text.replace("run", "walk"),
            String::new(),
        ] {
            assert!(!PLUGIN.is_ours(&other), "{other}");
        }
    }
}
