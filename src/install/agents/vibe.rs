//! Mistral Vibe: `[[hooks]]` tables in `hooks.toml` of the user, or of a project that the user trusts.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::change::{Change, Kind};
use crate::install::edits::{Edit, Result};
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row, Wanted};
use crate::install::installer::{Installer, folder_or};
use crate::install::tables;

const ROWS: [Row; 3] = [
    ("pre_tool", Limit::Plain, ANY),
    ("post_tool", Limit::Plain, ANY),
    ("post_agent", Limit::Reply, ANY),
];

const FOLDER: &str = "VIBE_HOME";
const EVENT: &str = "type";

pub(super) struct Vibe;

impl Installer for Vibe {
    fn agent(&self) -> Agent {
        Agent::Vibe
    }

    fn user_folder(&self) -> Result<PathBuf> {
        folder_or(FOLDER, self.agent(), ".vibe")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some(FOLDER)
    }

    /// What is installed does not depend on the version.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn hooks_file(&self) -> &'static str {
        "hooks.toml"
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn stop_event(&self) -> &'static str {
        "post_agent"
    }

    /// A name that a project's file has too takes the place of the user's, so the call is made once.
    fn edits(
        &self,
        _: &Found,
        file: &Path,
        wanted: &[Wanted],
        _: &Path,
        _: &mut Vec<String>,
    ) -> Result<Vec<Edit>> {
        let table = |wanted: &Wanted| {
            vec![
                (
                    "name",
                    tables::string(&format!("checkpointd-{}", wanted.event)),
                ),
                (EVENT, tables::string(wanted.event)),
                ("command", tables::string(&wanted.command)),
                ("timeout", format!("{}.0", wanted.timeout)),
            ]
        };
        Ok(vec![tables::edit(file, EVENT, wanted, table)?])
    }

    fn command_at(&self, text: &str, event: &str) -> Result<Option<String>> {
        Ok(tables::command_at(text, EVENT, event))
    }

    fn has_prompts(&self) -> bool {
        false
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("Vibe runs the hooks of {project} once the folder is trusted")
    }

    fn hooks_kind(&self, _: &Found) -> Kind {
        Kind::Tables
    }

    /// Vibe has no switch for hooks.
    fn switched_off(&self, _: &Found, _: &Change) -> Option<&'static str> {
        None
    }
}
