//! Gemini CLI: hooks in `settings.json`, with limits in milliseconds; slash commands in TOML.

use std::path::{Path, PathBuf};

use journal::Agent;
use serde_json::json;

use crate::install::found::on_path;
use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::{Installer, folder_in, home_for};
use crate::install::prompt::Prompt;

/// The model hooks fire at every model call and add nothing. Subagents are tool calls here.
const ROWS: [Row; 8] = [
    ("SessionStart", Limit::Reply, ANY),
    ("BeforeAgent", Limit::Plain, ANY),
    ("BeforeTool", Limit::Plain, ANY),
    ("AfterTool", Limit::Plain, ANY),
    ("AfterAgent", Limit::Reply, ANY),
    ("Notification", Limit::Plain, ANY),
    ("PreCompress", Limit::Plain, ANY),
    ("SessionEnd", Limit::Plain, ANY),
];

pub(super) struct Gemini;

impl Installer for Gemini {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        let home =
            folder_in("GEMINI_CLI_HOME").map_or_else(|| home_for(self.agent().name()), Ok)?;
        Ok(home.join(".gemini"))
    }

    fn folder_variable(&self) -> Option<&'static str> {
        None
    }

    /// Asking takes seconds, and nothing depends on the version.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn stop_event(&self) -> &'static str {
        "AfterAgent"
    }

    /// The payload names its event too, but it is read after the command line.
    fn arguments(&self, event: &str) -> String {
        format!("gemini {event}")
    }

    fn timeout(&self, seconds: u64) -> u64 {
        seconds * 1000
    }

    /// The automatic PreCompress fires before every model call, with or without compression.
    fn matcher(&self, event: &str) -> Option<&'static str> {
        (event == "PreCompress").then_some("manual")
    }

    fn shell(&self) -> &'static str {
        if on_path("bash").is_some() {
            "bash"
        } else {
            "sh"
        }
    }

    fn prompt_file(&self, prompt: &Prompt) -> (String, String) {
        // JSON's strings are valid TOML; a literal block keeps the text readable.
        let description = json!(prompt.description);
        let text = prompt.text("{{args}}");
        (
            format!("{}.toml", prompt.name),
            format!("description = {description}\nprompt = '''\n{text}'''\n"),
        )
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("Gemini CLI runs them only where {project} is a trusted folder (`/permissions`)")
    }
}
