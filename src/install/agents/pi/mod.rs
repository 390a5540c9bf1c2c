//! Pi: an extension, `extensions/checkpointd.ts`, user or project.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::change::{Change, Kind};
use crate::install::edits::{Edit, Result};
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row, Wanted};
use crate::install::installer::{Installer, folder_or};
use crate::install::plugin::Plugin;

const PLUGIN: Plugin = Plugin(include_str!("plugin.ts"));

/// The plugin tells more. Of a stop the time limit is needed.
const ROWS: [Row; 1] = [("Stop", Limit::Reply, ANY)];
/// The variable that sets the settings folder.
const FOLDER: &str = "PI_CODING_AGENT_DIR";

pub(super) struct Pi;

impl Installer for Pi {
    fn agent(&self) -> Agent {
        Agent::Pi
    }

    fn user_folder(&self) -> Result<PathBuf> {
        folder_or(FOLDER, self.agent(), ".pi/agent")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some(FOLDER)
    }

    /// Asking takes seconds, and nothing depends on the version.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn hooks_file(&self) -> &'static str {
        "extensions/checkpointd.ts"
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn edits(
        &self,
        _: &Found,
        file: &Path,
        wanted: &[Wanted],
        client: &Path,
        _: &mut Vec<String>,
    ) -> Result<Vec<Edit>> {
        Ok(vec![PLUGIN.edit(file, wanted, client)?])
    }

    fn is_ours(&self, text: &str) -> bool {
        PLUGIN.is_ours(text)
    }

    fn command_at(&self, text: &str, _: &str) -> Result<Option<String>> {
        Ok(Plugin::command(text, self.agent().word()))
    }

    fn prompts_folder(&self) -> &'static str {
        "prompts"
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("Pi loads the extension of {project} without asking")
    }

    fn hooks_kind(&self, _: &Found) -> Kind {
        Kind::Own
    }

    /// Extensions have no switch in the settings.
    fn switched_off(&self, _: &Found, _: &Change) -> Option<&'static str> {
        None
    }
}
