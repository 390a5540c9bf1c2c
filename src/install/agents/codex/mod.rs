//! Codex CLI: hooks in `hooks.json`, each of them trusted in the user's `config.toml`; before hooks, `notify`.

mod notify;
mod toml;
pub(in crate::install) mod trust;

use std::path::{Path, PathBuf};

use journal::Agent;

use crate::edit::files::{self, Text};
use crate::install::change::{AgentPlan, Change, Entry, Kind, Status};
use crate::install::check::Check;
use crate::install::edits::{self, Edit, in_file, read};
use crate::install::found::Found;
use crate::install::hooks::{ANY, Limit, Row, Wanted};
use crate::install::installer::{Installer, folder_in, home_for};
use crate::install::settings::{self, Handler};
use crate::install::version::Version;

/// The first version with hooks on by default; earlier ones reliably support only `notify`.
const HOOKS_SINCE: Version = Version(0, 124, 0);
const HOOKS_FILE: &str = "hooks.json";
const CONFIG: &str = "config.toml";

const ROWS: [Row; 12] = [
    ("SessionStart", Limit::Reply, ANY),
    ("UserPromptSubmit", Limit::Plain, ANY),
    ("PreToolUse", Limit::Plain, ANY),
    ("PermissionRequest", Limit::Plain, ANY),
    ("PostToolUse", Limit::Plain, ANY),
    ("Stop", Limit::Reply, ANY),
    ("SubagentStart", Limit::Plain, ANY),
    ("SubagentStop", Limit::Plain, ANY),
    ("PreCompact", Limit::Plain, ANY),
    ("PostCompact", Limit::Plain, ANY),
    ("Interrupt", Limit::End, ANY),
    ("SessionEnd", Limit::End, ANY),
];

pub(super) struct Codex;

impl Installer for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    /// Codex resolves links in the variable only, and derives the keys of trusted hooks from the
    /// result.
    fn user_folder(&self) -> Result<PathBuf, String> {
        match folder_in("CODEX_HOME") {
            Some(folder) => Ok(folder.canonicalize().unwrap_or(folder)),
            None => home_for(self.agent().name()).map(|home| home.join(".codex")),
        }
    }

    fn folder_variable(&self) -> Option<&'static str> {
        Some("CODEX_HOME")
    }

    fn hooks_file(&self) -> &'static str {
        HOOKS_FILE
    }

    fn rows(&self) -> &'static [Row] {
        &ROWS
    }

    fn edits(
        &self,
        found: &Found,
        file: &Path,
        wanted: &[Wanted],
        client: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Edit>, String> {
        if has_no_hooks(found) {
            return Ok(vec![notify_edit(found, client, notes)?]);
        }
        let hooks = edits::settings(file, wanted, self.shape(), self.empty_file())?;
        let trust = trust_edit(found, &hooks)?;
        Ok(vec![hooks, trust])
    }

    fn other_files(&self, folder: &Path) -> Vec<(PathBuf, Kind)> {
        vec![(folder.join(CONFIG), Kind::Trust)]
    }

    fn strip_trust(
        &self,
        text: &str,
        hooks_files: &[PathBuf],
    ) -> Result<(String, Vec<Entry>), String> {
        let mut text = text.to_owned();
        let mut entries = Vec::new();
        for hooks in hooks_files {
            let now = Text::of(files::read(hooks)?.as_deref(), hooks)?.text;
            let old = settings::handlers(&now)?;
            let new: Vec<Handler> = settings::handlers(&settings::strip(&now, None)?.0)?;
            let ours = old.iter().filter(|handler| handler.client.is_some());
            let keys: Vec<String> = ours.map(|handler| trust::key(hooks, handler)).collect();
            let (without, gone) = trust::forget(&text, &keys)?;
            text = trust::rename(&without, &trust::moved(hooks, &old, &new))?;
            entries.extend(gone);
        }
        let (text, cleared) = notify::clear_notify(&text)?;
        entries.extend(cleared);
        Ok((text, entries))
    }

    fn prompts_folder(&self) -> &'static str {
        "prompts"
    }

    fn has_project_prompts(&self) -> bool {
        false
    }

    fn project_note(&self, project: &Path) -> String {
        let project = project.display();
        format!(
            "Codex reads them only where {project} is trusted in your `config.toml`; it asks at its first start there"
        )
    }

    fn hooks_kind(&self, found: &Found) -> Kind {
        if has_no_hooks(found) {
            Kind::Trust
        } else {
            Kind::Settings
        }
    }

    fn switched_off(&self, found: &Found, change: &Change) -> Option<&'static str> {
        let is_off = change.kind == Kind::Settings && trust::switched_off(&config(found));
        is_off.then_some("features.hooks")
    }

    /// Codex also reads hooks from config.toml; a user may have added ours there by hand.
    fn misplaced(&self, found: &Found) -> Vec<String> {
        let events = trust::events_of_ours(&config(found));
        events
            .into_iter()
            .map(|event| format!("{event} (take [[hooks.{event}]] out of config.toml)"))
            .collect()
    }

    fn checks(&self, found: &Found, plan: &AgentPlan) -> Vec<Check> {
        if has_no_hooks(found) {
            Vec::new()
        } else {
            vec![trusted(found, plan)]
        }
    }
}

/// Returns whether this version does not reliably run hooks.
fn has_no_hooks(found: &Found) -> bool {
    found.version.is_some_and(|version| version < HOOKS_SINCE)
}

fn config(found: &Found) -> String {
    files::text(
        files::read(&found.folder.join(CONFIG))
            .ok()
            .flatten()
            .as_deref(),
    )
}

/// Trust is recorded in the user's config.toml, wherever the hooks are.
fn trust_edit(found: &Found, hooks: &Edit) -> Result<Edit, String> {
    let path = found.folder.join(CONFIG);
    let (before, text) = read(&path)?;
    let handlers = |text: &str| settings::handlers(text).map_err(in_file(&hooks.path));
    let old = handlers(&hooks.text.text)?;
    let new = handlers(&hooks.after)?;
    let ours = new.iter().filter(|handler| handler.client.is_some());
    let wanted: Vec<_> = ours
        .map(|handler| (trust::key(&hooks.path, handler), trust::hash(handler)))
        .collect();
    let edit = || {
        let gone = trust::keys_gone(&hooks.path, &old, &wanted);
        let (text, removed) = trust::forget(&text.text, &gone)?;
        let text = trust::rename(&text, &trust::moved(&hooks.path, &old, &new))?;
        let (text, mut entries) = trust::trust(&text, &wanted)?;
        // A Codex with hooks no longer needs `notify`.
        let (text, cleared) = notify::clear_notify(&text)?;
        entries.extend(removed.into_iter().chain(cleared));
        Ok((text, entries))
    };
    let (after, entries) = edit().map_err(in_file(&path))?;
    Ok(Edit {
        kind: Kind::Trust,
        path,
        before,
        text,
        after,
        entries,
    })
}

fn notify_edit(found: &Found, client: &Path, notes: &mut Vec<String>) -> Result<Edit, String> {
    let path = found.folder.join(CONFIG);
    let (before, text) = read(&path)?;
    let client = client.to_string_lossy();
    let (after, entry) = notify::set_notify(&text.text, &client).map_err(in_file(&path))?;
    let version = found
        .version
        .map(|version| version.to_string())
        .unwrap_or_default();
    notes.push(if entry.status == Status::Kept {
        format!(
            "Codex {version} has no hooks, and its `notify` calls a program of yours, which stays: update Codex to \
             {HOOKS_SINCE} or newer and run `checkpointd init` again"
        )
    } else {
        format!("Codex {version} has no hooks: by `notify` its turns are journaled; hooks come with {HOOKS_SINCE}")
    });
    Ok(Edit {
        kind: Kind::Trust,
        path,
        before,
        text,
        after,
        entries: vec![entry],
    })
}

/// Checks the installed hooks, not the wanted ones: those are what Codex reads.
fn trusted(found: &Found, plan: &AgentPlan) -> Check {
    let name = "codex.trust";
    let file = found.folder.join(HOOKS_FILE);
    let config = found.folder.join(CONFIG);
    let before = |path: &std::path::Path| plan.changes.iter().find(|change| change.path == path);
    let text = before(&config).map(Change::text_before).unwrap_or_default();
    let states = match trust::states(&text) {
        Ok(states) => states,
        Err(error) => {
            return Check::fail(
                name,
                format!("{}: {error}", config.display()),
                "fix the file",
            );
        }
    };
    let mut wrong = Vec::new();
    let mut disabled = Vec::new();
    let ours = before(&file)
        .map(|change| settings::handlers(&change.text_before()).unwrap_or_default())
        .unwrap_or_default()
        .into_iter()
        .filter(|handler| handler.client.is_some());
    for handler in ours {
        let state = states
            .get(&trust::key(&file, &handler))
            .cloned()
            .unwrap_or_default();
        if state.trusted_hash != Some(trust::hash(&handler)) {
            wrong.push(handler.event);
        } else if state.is_disabled {
            disabled.push(handler.event);
        }
    }
    if !wrong.is_empty() {
        let detail = format!(
            "Codex asks before it runs these, or skips them: {}",
            wrong.join(", ")
        );
        return Check::fail(
            name,
            detail,
            "`checkpointd doctor --fix` records them as trusted",
        );
    }
    if !disabled.is_empty() {
        let detail = format!("trusted, but disabled in Codex: {}", disabled.join(", "));
        return Check::warn(name, detail, "enable them in Codex (`/hooks`)");
    }
    Check::pass(name, "Codex trusts all of them")
}
