//! opencode: a plugin, `plugins/checkpointd.js`, user or project.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::change::{Change, Kind};
use crate::install::edits::{Edit, Result};
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row, Wanted};
use crate::install::installer::{Installer, folder_or};
use crate::install::plugin::Plugin;

const PLUGIN: Plugin = Plugin(include_str!("plugin.js"));

/// The plugin tells more. Of a stop the time limit is needed.
const ROWS: [Row; 1] = [("Stop", Limit::Reply, ANY)];

pub(super) struct OpenCode;

impl Installer for OpenCode {
    fn agent(&self) -> Agent {
        Agent::OpenCode
    }

    fn user_folder(&self) -> Result<PathBuf> {
        let config = folder_or("XDG_CONFIG_HOME", self.agent(), ".config")?;
        Ok(config.join("opencode"))
    }

    fn folder_variable(&self) -> Option<&'static str> {
        None
    }

    /// Asking takes seconds, and nothing depends on the version: unknown events do no harm.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn hooks_file(&self) -> &'static str {
        "plugins/checkpointd.js"
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

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("opencode loads the plugin of {project} without asking")
    }

    fn hooks_kind(&self, _: &Found) -> Kind {
        Kind::Own
    }

    /// Plugins have no switch.
    fn switched_off(&self, _: &Found, _: &Change) -> Option<&'static str> {
        None
    }
}
