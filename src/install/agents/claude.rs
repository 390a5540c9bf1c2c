//! Claude Code: hooks in `settings.json`, user or project.

use std::path::{Path, PathBuf};

use journal::Agent;

use super::configured;
use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::{Installer, folder_or};
use crate::install::version::Version;

/// Claude Code ignores a whole settings file because of one unknown event, so each event comes with
/// the first version that knows it (checked in the published 2.0.42 to 2.1.89).
const ROWS: [Row; 16] = [
    ("SessionStart", Limit::Reply, ANY),
    ("UserPromptSubmit", Limit::Plain, ANY),
    ("PreToolUse", Limit::Plain, ANY),
    ("PreSkillShellCommand", Limit::Plain, Version(2, 1, 332)),
    ("PermissionRequest", Limit::Plain, Version(2, 0, 45)),
    ("PermissionDenied", Limit::Plain, Version(2, 1, 88)),
    ("PostToolUse", Limit::Plain, ANY),
    ("PostToolUseFailure", Limit::Plain, Version(2, 1, 0)),
    ("Notification", Limit::Plain, ANY),
    ("Stop", Limit::Reply, ANY),
    ("StopFailure", Limit::Plain, Version(2, 1, 78)),
    ("SubagentStart", Limit::Plain, Version(2, 0, 44)),
    ("SubagentStop", Limit::Plain, ANY),
    ("PreCompact", Limit::Plain, ANY),
    ("PostCompact", Limit::Plain, Version(2, 1, 76)),
    ("SessionEnd", Limit::End, ANY),
];

pub(super) struct Claude;

impl Installer for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        folder_or("CLAUDE_CONFIG_DIR", self.agent(), ".claude")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_CONFIG_DIR")
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    /// Other agents read these settings too.
    fn arguments(&self, _: &str) -> String {
        format!("{}{}", self.agent().word(), configured::marks())
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("Claude Code runs them once you trust {project} in its own dialog")
    }
}
