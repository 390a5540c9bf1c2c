//! GitHub Copilot CLI: a file of ours among its hooks, `hooks/checkpointd.json`.

use std::path::{Path, PathBuf};

use journal::Agent;
use serde_json::{Map, Value, json};

use crate::edit::files;
use crate::install::change::{Change, Entry, Kind, Status};
use crate::install::edits::{Edit, Result, read};
use crate::install::found::{Found, on_path};
use crate::install::hooks::{ANY, Limit, Row, Wanted, client_of};
use crate::install::installer::{Installer, folder_or};
use crate::install::version::Version;

/// `permissionRequest` fires for calls that are allowed, too.
const ROWS: [Row; 8] = [
    ("sessionStart", Limit::Reply, ANY),
    ("userPromptSubmitted", Limit::Plain, ANY),
    ("preToolUse", Limit::Plain, ANY),
    ("postToolUse", Limit::Plain, ANY),
    ("postToolUseFailure", Limit::Plain, ANY),
    ("agentStop", Limit::Reply, ANY),
    ("preCompact", Limit::Plain, ANY),
    ("sessionEnd", Limit::Plain, ANY),
];

pub(super) struct Copilot;

impl Installer for Copilot {
    fn agent(&self) -> Agent {
        Agent::Copilot
    }

    fn user_folder(&self) -> Result<PathBuf> {
        folder_or("COPILOT_HOME", self.agent(), ".copilot")
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some("COPILOT_HOME")
    }

    /// Asking takes seconds, and nothing depends on the version.
    fn depends_on_version(&self) -> bool {
        false
    }

    /// Version 0.0.400 has no stop hook.
    fn hooks_since(&self) -> Option<Version> {
        Some(Version(0, 0, 401))
    }

    fn hooks_file(&self) -> &'static str {
        "hooks/checkpointd.json"
    }

    fn project_folder(&self, project: &Path) -> PathBuf {
        project.join(".github")
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn stop_event(&self) -> &'static str {
        "agentStop"
    }

    /// Payloads do not name their event.
    fn arguments(&self, event: &str) -> String {
        format!("copilot {event}")
    }

    /// Copilot denies a tool call whose hook fails, so the shell stays and ends well even if the client is killed.
    fn command(&self, client: &Path, arguments: &str) -> String {
        let client = client.to_string_lossy();
        let client = shlex::try_quote(&client).expect("a path has no NUL");
        format!("[ -x {client} ] && {client} {arguments}; exit 0")
    }

    fn shell(&self) -> &'static str {
        if on_path("bash").is_some() {
            "bash"
        } else {
            "sh"
        }
    }

    fn edits(
        &self,
        _: &Found,
        file: &Path,
        wanted: &[Wanted],
        _: &Path,
        _: &mut Vec<String>,
    ) -> Result<Vec<Edit>> {
        let (before, text) = read(file)?;
        let after = hooks(wanted);
        let known = commands(&text.text);
        let entry = |wanted: &Wanted| {
            let status = match known.iter().find(|(event, _)| event == wanted.event) {
                None => Status::Added,
                Some(_) if text.text == after => Status::AlreadyThere,
                Some(_) => Status::Updated,
            };
            Entry::new(wanted.event, status)
        };
        let entries = wanted.iter().map(entry).collect();
        Ok(vec![Edit {
            kind: Kind::Own,
            path: file.to_owned(),
            before,
            text,
            after,
            entries,
        }])
    }

    fn is_ours(&self, text: &str) -> bool {
        let commands = commands(text);
        !commands.is_empty() && commands.iter().all(|(_, it)| client_of(it).is_some())
    }

    fn command_at(&self, text: &str, event: &str) -> Result<Option<String>> {
        let found = commands(text).into_iter().find(|(name, _)| name == event);
        Ok(found.map(|(_, command)| command))
    }

    fn has_prompts(&self) -> bool {
        false
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!(
            "Copilot runs them only where {project} is a trusted folder; it asks at its first start there"
        )
    }

    fn hooks_kind(&self, _: &Found) -> Kind {
        Kind::Own
    }

    fn switched_off(&self, _: &Found, change: &Change) -> Option<&'static str> {
        let text = files::text(files::read(&change.path).ok().flatten().as_deref());
        let root: Value = serde_json::from_str(&text).ok()?;
        (root["disableAllHooks"] == true).then_some("disableAllHooks")
    }
}

fn hooks(wanted: &[Wanted]) -> String {
    let hooks: Map<String, Value> = wanted
        .iter()
        .map(|wanted| {
            let entry =
                json!({ "type": "command", "bash": wanted.command, "timeoutSec": wanted.timeout });
            (wanted.event.to_owned(), json!([entry]))
        })
        .collect();
    let root = json!({ "version": 1, "hooks": hooks });
    format!("{root:#}\n")
}

/// Returns the events of a file with their commands.
fn commands(text: &str) -> Vec<(String, String)> {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    let events = root["hooks"].as_object().into_iter().flatten();
    events
        .flat_map(|(event, entries)| {
            let entries = entries.as_array().into_iter().flatten();
            entries.filter_map(|entry| Some((event.clone(), entry["bash"].as_str()?.to_owned())))
        })
        .collect()
}
