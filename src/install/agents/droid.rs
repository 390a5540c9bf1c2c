//! Factory droid: hooks in `settings.json`, user or project.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::AgentPlan;
use crate::install::check::Check;
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::{Installer, home_for};

const ROWS: [Row; 9] = [
    ("SessionStart", Limit::Reply, ANY),
    ("UserPromptSubmit", Limit::Plain, ANY),
    ("PreToolUse", Limit::Plain, ANY),
    ("PostToolUse", Limit::Plain, ANY),
    ("Notification", Limit::Plain, ANY),
    ("Stop", Limit::Reply, ANY),
    ("SubagentStop", Limit::Plain, ANY),
    ("PreCompact", Limit::Plain, ANY),
    ("SessionEnd", Limit::Plain, ANY),
];

/// A file in whose place droid does not look at the hooks of its settings.
const INSTEAD: &str = "hooks.json";

pub(super) struct Droid;

impl Installer for Droid {
    fn agent(&self) -> Agent {
        Agent::Droid
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        home_for(self.agent().name()).map(|home| home.join(".factory"))
    }

    fn folder_variable(&self) -> Option<&'static str> {
        None
    }

    /// Asking takes seconds, and nothing depends on the version.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn project_folder(&self, project: &Path) -> PathBuf {
        project.join(".factory")
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("droid runs the hooks of {project} for everyone who works there")
    }

    fn checks(&self, found: &Found, _: &AgentPlan) -> Vec<Check> {
        let path = found.folder.join(INSTEAD);
        if !path.is_file() {
            return Vec::new();
        }
        vec![Check::warn(
            format!("{}.file", self.agent()),
            format!(
                "droid may read {} in place of the hooks in its settings",
                path.display()
            ),
            "move its hooks into settings.json",
        )]
    }
}
