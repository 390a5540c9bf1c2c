//! Codex CLI: hooks in `hooks.json`, each of them trusted in the user's `config.toml`; before hooks, `notify`.

mod notify;
mod toml;
pub(in crate::install) mod trust;

use std::path::{Path, PathBuf};

use crate::edit::files::{self, Text};
use crate::install::change::{AgentPlan, Change, Entry, Kind, Status};
use crate::install::check::Check;
use crate::install::edits::{self, Edit, in_file};
use crate::install::found::Found;
use crate::install::hooks::HookEntry;
use crate::install::settings::{self, Handler, Shape};
use crate::install::version::Version;

/// The first version with hooks on by default; earlier ones reliably support only `notify`.
const HOOKS_SINCE: Version = Version(0, 124, 0);
pub(super) const HOOKS_FILE: &str = "hooks.json";
pub(in crate::install) const CONFIG: &str = "config.toml";

/// Plans the hooks and the trust in them; for a version without hooks, `notify`.
pub(in crate::install) fn edits(
    found: &Found,
    file: &Path,
    wanted: &[HookEntry],
    client: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Edit>, String> {
    if has_no_hooks(found) {
        return Ok(vec![notify_edit(found, client, notes)?]);
    }
    if !trust::events_with(&config(found), false).is_empty() {
        notes.push("Codex runs your hooks in config.toml beside these".to_owned());
    }
    let hooks = edits::settings(file, wanted, Shape::Groups, "")?;
    let trust = trust_edit(found, &hooks)?;
    Ok(vec![hooks, trust])
}

/// Removes the trust in our hooks in these files, and `notify`.
pub(in crate::install) fn strip_trust(
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

pub(in crate::install) fn hooks_kind(found: &Found) -> Kind {
    match has_no_hooks(found) {
        true => Kind::Trust,
        false => Kind::Settings,
    }
}

pub(in crate::install) fn switched_off(
    found: &Found,
    change: &Change,
    others: &[PathBuf],
) -> Option<(&'static str, PathBuf)> {
    if change.kind != Kind::Settings {
        return None;
    }
    let own = found.folder.join(CONFIG);
    let mut files = std::iter::once(&own).chain(others);
    files.find_map(|path| Some((trust::switched_off(&files::now(path))?, path.clone())))
}

/// Names our hooks in config.toml, which Codex reads too; a user may have added them by hand.
pub(in crate::install) fn misplaced(found: &Found) -> Vec<String> {
    let events = trust::events_with(&config(found), true).into_iter();
    let named = events.map(|event| format!("{event} (take [[hooks.{event}]] out of config.toml)"));
    named.collect()
}

pub(super) fn checks(found: &Found, plan: &AgentPlan) -> Vec<Check> {
    match has_no_hooks(found) {
        true => Vec::new(),
        false => vec![trusted(found, plan)],
    }
}

/// Returns whether this version does not reliably run hooks.
fn has_no_hooks(found: &Found) -> bool {
    found.version.is_some_and(|version| version < HOOKS_SINCE)
}

fn config(found: &Found) -> String {
    files::now(&found.folder.join(CONFIG))
}

/// Trust is recorded in the user's config.toml, wherever the hooks are.
fn trust_edit(found: &Found, hooks: &Edit) -> Result<Edit, String> {
    let path = found.folder.join(CONFIG);
    let handlers = |text: &str| settings::handlers(text).map_err(in_file(&hooks.path));
    let old = handlers(&hooks.text.text)?;
    let new = handlers(&hooks.after)?;
    let ours = new.iter().filter(|handler| handler.client.is_some());
    let trusted = ours.map(|handler| (trust::key(&hooks.path, handler), trust::hash(handler)));
    let wanted: Vec<_> = trusted.collect();
    Edit::new(Kind::Trust, &path, |text| {
        let gone = trust::keys_gone(&hooks.path, &old, &wanted);
        let (text, removed) = trust::forget(text, &gone)?;
        let text = trust::rename(&text, &trust::moved(&hooks.path, &old, &new))?;
        let (text, mut entries) = trust::trust(&text, &wanted)?;
        // A Codex with hooks no longer needs `notify`.
        let (text, cleared) = notify::clear_notify(&text)?;
        entries.extend(removed.into_iter().chain(cleared));
        Ok((text, entries))
    })
}

fn notify_edit(found: &Found, client: &Path, notes: &mut Vec<String>) -> Result<Edit, String> {
    let client = client.to_string_lossy();
    let edit = Edit::new(Kind::Trust, &found.folder.join(CONFIG), |text| {
        let (after, entry) = notify::set_notify(text, &client)?;
        Ok((after, vec![entry]))
    })?;
    let version = found.version.map(|version| version.to_string());
    let version = version.unwrap_or_default();
    notes.push(if edit.entries[0].status == Status::Kept {
        format!(
            "Codex {version} has no hooks, and its `notify` calls a program of yours, which stays: update Codex to \
             {HOOKS_SINCE} or newer and run `checkpointd init` again"
        )
    } else {
        format!("Codex {version} has no hooks: by `notify` its turns are journaled; hooks come with {HOOKS_SINCE}")
    });
    Ok(edit)
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
            let detail = format!("{}: {error}", config.display());
            return Check::fail(name, detail, "fix the file");
        }
    };
    let mut wrong = Vec::new();
    let mut disabled = Vec::new();
    let hooks = before(&file).map(Change::text_before).unwrap_or_default();
    let hooks = settings::handlers(&hooks).unwrap_or_default().into_iter();
    for handler in hooks.filter(|handler| handler.client.is_some()) {
        let state = states.get(&trust::key(&file, &handler));
        let state = state.cloned().unwrap_or_default();
        if state.trusted_hash != Some(trust::hash(&handler)) {
            wrong.push(handler.event);
        } else if state.is_disabled {
            disabled.push(handler.event);
        }
    }
    if !wrong.is_empty() {
        let wrong = wrong.join(", ");
        let detail = format!("Codex asks before it runs these, or skips them: {wrong}");
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
