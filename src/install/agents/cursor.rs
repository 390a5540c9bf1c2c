//! Cursor: hooks in `hooks.json`, user or project. Only on request, because it was not run.

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::{Installer, home_for};
use crate::install::settings::Shape;

/// An event that Cursor does not know makes it ignore the whole file, so newer ones are left out. `preToolUse`, which can
/// deny a call, says nothing that `postToolUse` does not say.
const ROWS: [Row; 7] = [
    ("sessionStart", Limit::Plain, ANY),
    ("beforeSubmitPrompt", Limit::Plain, ANY),
    ("postToolUse", Limit::Plain, ANY),
    ("postToolUseFailure", Limit::Plain, ANY),
    ("preCompact", Limit::Plain, ANY),
    ("stop", Limit::Reply, ANY),
    ("sessionEnd", Limit::Plain, ANY),
];

pub(super) struct Cursor;

impl Installer for Cursor {
    fn agent(&self) -> Agent {
        Agent::Cursor
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        home_for(self.agent().name()).map(|home| home.join(".cursor"))
    }

    fn folder_variable(&self) -> Option<&'static str> {
        None
    }

    fn depends_on_version(&self) -> bool {
        false
    }

    fn is_on_request(&self) -> bool {
        true
    }

    fn hooks_file(&self) -> &'static str {
        "hooks.json"
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn stop_event(&self) -> &'static str {
        "stop"
    }

    fn shape(&self) -> Shape {
        Shape::Flat
    }

    fn empty_file(&self) -> &'static str {
        "{\n  \"version\": 1\n}\n"
    }

    fn has_prompts(&self) -> bool {
        false
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!("Cursor runs them only where {project} is a trusted workspace")
    }
}
