//! Kimi Code: `[[hooks]]` tables in `config.toml` of the user. Projects have none.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::change::{Change, Kind};
use crate::install::edits::{Edit, Result};
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row, Wanted};
use crate::install::installer::{Installer, folder_or};
use crate::install::tables;

/// One name that Kimi Code does not know, and it does not start.
const ROWS: [Row; 15] = [
    ("SessionStart", Limit::Plain, ANY),
    ("UserPromptSubmit", Limit::Plain, ANY),
    ("PreToolUse", Limit::Plain, ANY),
    ("PermissionRequest", Limit::Plain, ANY),
    ("PostToolUse", Limit::Plain, ANY),
    ("PostToolUseFailure", Limit::Plain, ANY),
    ("Notification", Limit::Plain, ANY),
    ("Stop", Limit::Reply, ANY),
    ("StopFailure", Limit::Plain, ANY),
    ("Interrupt", Limit::Plain, ANY),
    ("SubagentStart", Limit::Plain, ANY),
    ("SubagentStop", Limit::Plain, ANY),
    ("PreCompact", Limit::Plain, ANY),
    ("PostCompact", Limit::Plain, ANY),
    ("SessionEnd", Limit::Plain, ANY),
];

const FOLDER: &str = "KIMI_CODE_HOME";
const EVENT: &str = "event";

pub(super) struct Kimi;

impl Installer for Kimi {
    fn agent(&self) -> Agent {
        Agent::Kimi
    }

    fn user_folder(&self) -> Result<PathBuf> {
        folder_or(FOLDER, self.agent(), ".kimi-code")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some(FOLDER)
    }

    /// Asking takes seconds, and all versions with these hooks know these events.
    fn depends_on_version(&self) -> bool {
        false
    }

    fn hooks_file(&self) -> &'static str {
        "config.toml"
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

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
                (EVENT, tables::string(wanted.event)),
                ("command", tables::string(&wanted.command)),
                ("timeout", wanted.timeout.to_string()),
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

    fn has_project_hooks(&self) -> bool {
        false
    }

    fn project_note(&self, _: &Path) -> String {
        String::new()
    }

    fn hooks_kind(&self, _: &Found) -> Kind {
        Kind::Tables
    }

    /// Kimi has no switch for hooks.
    fn switched_off(&self, _: &Found, _: &Change) -> Option<&'static str> {
        None
    }
}
