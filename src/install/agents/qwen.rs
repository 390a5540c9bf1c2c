//! Qwen Code: hooks in `settings.json`, user or project.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::found::on_path;
use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::{Installer, folder_or};
use crate::install::prompt::Prompt;
use crate::install::version::Version;

/// `PostToolBatch` repeats what `PostToolUse` says, and `MessageDisplay` comes for each piece of an answer.
const ROWS: [Row; 14] = [
    ("SessionStart", Limit::Reply, ANY),
    ("UserPromptSubmit", Limit::Plain, ANY),
    ("PreToolUse", Limit::Plain, ANY),
    ("PermissionRequest", Limit::Plain, ANY),
    ("PostToolUse", Limit::Plain, ANY),
    ("PostToolUseFailure", Limit::Plain, ANY),
    ("Notification", Limit::Plain, ANY),
    ("Stop", Limit::Reply, ANY),
    ("StopFailure", Limit::Plain, ANY),
    ("SubagentStart", Limit::Plain, ANY),
    ("SubagentStop", Limit::Plain, ANY),
    ("PreCompact", Limit::Plain, ANY),
    ("PostCompact", Limit::Plain, ANY),
    ("SessionEnd", Limit::Plain, ANY),
];

pub(super) struct Qwen;

impl Installer for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        folder_or("QWEN_HOME", self.agent(), ".qwen")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some("QWEN_HOME")
    }

    /// Asking takes seconds, and nothing depends on the version: unknown events do no harm.
    fn depends_on_version(&self) -> bool {
        false
    }

    /// Version 0.10.1 has no hooks.
    fn hooks_since(&self) -> Option<Version> {
        Some(Version(0, 12, 0))
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn shell(&self) -> &'static str {
        if on_path("bash").is_some() {
            "bash"
        } else {
            "sh"
        }
    }

    fn prompt_file(&self, prompt: &Prompt) -> (String, String) {
        prompt.markdown("{{args}}")
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!(
            "Qwen Code runs them only where {project} is a trusted folder, if you use folder trust"
        )
    }
}
