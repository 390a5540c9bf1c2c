//! What installing would do: for each agent the files as they are and as they are to be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use journal::{Agent, Home};

use super::agents::{self, Found};
use super::hooks::{self, Wanted};
use super::record::Record;
use super::settings::{self, Handler};
use super::{
    AgentPlan, Change, Entry, Kind, Scope, Status, digest, hooks_file, prompts, trust, undo,
};
use crate::edit::files::{self, Text};

type Result<T> = std::result::Result<T, String>;

/// What a plan is made with.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    /// Where our own data is.
    pub(crate) home: &'a Home,
    /// What was installed before.
    pub(crate) record: &'a Record,
    /// The hook client's path.
    pub(crate) client: &'a Path,
    /// The longest that the daemon may take for a reply.
    pub(crate) stop_wait_ms: u64,
}

/// Returns the hook client that belongs to this program.
///
/// By its name on `PATH` where that leads to the same file: package managers keep that name and move the file behind it,
/// and a hook that names the file would fall silent with the next version.
///
/// # Errors
///
/// When it is not where it was installed; one sentence with what to do.
pub(crate) fn client() -> Result<PathBuf> {
    let own = std::env::current_exe()
        .map_err(|error| format!("this program's path cannot be told: {error}"))?;
    let beside = own.with_file_name(hooks::CLIENT);
    let on_path = agents::on_path(hooks::CLIENT).filter(|path| path.is_absolute());
    let is_same = |path: &PathBuf| path.canonicalize().ok() == beside.canonicalize().ok();
    let client = match on_path {
        Some(path) if !beside.is_file() || is_same(&path) => path,
        _ if beside.is_file() => beside,
        _ => {
            let (name, own) = (hooks::CLIENT, own.display());
            return Err(format!(
                "{name} is neither beside {own} nor on PATH: install both (`cargo install --path .`)"
            ));
        }
    };
    if client.to_str().is_none() {
        return Err(format!(
            "the path {} is not UTF-8, which settings files must be",
            client.display()
        ));
    }
    Ok(client)
}

/// Plans for one agent.
///
/// # Errors
///
/// One sentence that names the file and what is wrong with it.
pub(crate) fn plan(found: &Found, scope: &Scope, means: &Means<'_>) -> Result<AgentPlan> {
    let folder = match scope {
        Scope::User => found.folder.clone(),
        Scope::Project(project) => agents::project_folder(found.agent, project),
    };
    let mut plan = AgentPlan {
        agent: found.agent,
        version: found.version,
        changes: Vec::new(),
        notes: notes(found, scope),
        folder: folder.clone(),
    };
    let wanted = hooks::wanted(found.agent, found.version, means.client, means.stop_wait_ms);
    if found.has_no_hooks() {
        plan.changes.push(notify(found, &mut plan.notes, means)?);
    } else {
        let file = hooks_file(found.agent, &folder);
        let change = settings_change(found.agent, &file, &wanted, means)?;
        if found.agent == Agent::Codex {
            let trust = trust_change(found, &file, &change, means)?;
            plan.changes.extend([change, trust]);
        } else {
            plan.changes.push(change);
        }
    }
    // Codex has no commands of projects.
    if found.agent != Agent::Codex || *scope == Scope::User {
        for (path, text) in prompts::files(found.agent, &folder) {
            plan.changes.push(prompt_change(
                found.agent,
                path,
                text,
                means,
                &mut plan.notes,
            )?);
        }
    }
    Ok(plan)
}

fn notes(found: &Found, scope: &Scope) -> Vec<String> {
    let mut notes = Vec::new();
    if found.program.is_none() {
        notes.push(format!(
            "`{}` is not on PATH; its settings are written all the same",
            found.agent.word()
        ));
    }
    if let Scope::Project(project) = scope {
        let project = project.display();
        notes.push(match found.agent {
            Agent::Claude => format!("Claude Code runs them once you trust {project} in its own dialog"),
            Agent::Gemini => format!("Gemini CLI runs them only where {project} is a trusted folder (`/permissions`)"),
            _ => format!(
                "Codex reads them only where {project} is trusted in your config.toml; it asks at its first start there"
            ),
        });
        notes.push(
            "if the hooks are in your user settings too, each call comes twice and counts once"
                .into(),
        );
    }
    notes
}

/// Reads a file for a change.
fn read(path: &Path) -> Result<(Option<Vec<u8>>, Text)> {
    let before = files::read(path)?;
    let text = Text::of(before.as_deref(), path)?;
    Ok((before, text))
}

fn in_file(path: &Path) -> impl Fn(String) -> String + '_ {
    move |error| format!("{}: {error}; nothing was changed", path.display())
}

fn settings_change(
    agent: Agent,
    path: &Path,
    wanted: &[Wanted],
    means: &Means<'_>,
) -> Result<Change> {
    let (before, text) = read(path)?;
    let (merged, entries) = settings::merge(&text.text, wanted).map_err(in_file(path))?;
    finish(
        agent,
        Kind::Settings,
        path,
        before,
        &text,
        &merged,
        entries,
        means,
    )
}

/// Codex's trust goes into the user's config.toml, wherever the hooks are.
fn trust_change(found: &Found, hooks: &Path, change: &Change, means: &Means<'_>) -> Result<Change> {
    let path = found.folder.join("config.toml");
    let (before, text) = read(&path)?;
    let handlers = |bytes: &Option<Vec<u8>>| {
        Text::of(bytes.as_deref(), hooks)
            .and_then(|text| settings::handlers(&text.text).map_err(in_file(hooks)))
    };
    let (old, new) = (handlers(&change.before)?, handlers(&change.after)?);
    let ours: Vec<_> = new
        .iter()
        .filter(|handler| handler.client.is_some())
        .collect();
    let wanted: Vec<_> = ours
        .iter()
        .map(|handler| (trust::key(hooks, handler), trust::hash(handler)))
        .collect();
    let edit = || {
        let (text, removed) = trust::forget(&text.text, &keys_gone(hooks, &old, &wanted))?;
        let text = trust::rename(&text, &moved(hooks, &old, &new))?;
        let (text, mut entries) = trust::trust(&text, &wanted)?;
        // A Codex that has learnt hooks needs no `notify` any more.
        let (text, notify) = trust::clear_notify(&text)?;
        entries.extend(removed.into_iter().chain(notify));
        Ok((text, entries))
    };
    let (trusted, entries) = edit().map_err(in_file(&path))?;
    finish(
        found.agent,
        Kind::Trust,
        &path,
        before,
        &text,
        &trusted,
        entries,
        means,
    )
}

/// Returns the keys under which hooks of ours were and are no more.
fn keys_gone(hooks: &Path, old: &[Handler], wanted: &[(String, String)]) -> Vec<String> {
    let wanted: BTreeSet<&String> = wanted.iter().map(|(key, _)| key).collect();
    let ours = old
        .iter()
        .filter(|handler| handler.client.is_some())
        .map(|handler| trust::key(hooks, handler));
    ours.filter(|key| !wanted.contains(key)).collect()
}

/// Returns the keys of other people's hooks whose place has changed, old and new.
pub(super) fn moved(hooks: &Path, old: &[Handler], new: &[Handler]) -> Vec<(String, String)> {
    let foreign = |all: &[Handler]| {
        let others = all.iter().filter(|handler| handler.client.is_none());
        others
            .map(|handler| trust::key(hooks, handler))
            .collect::<Vec<_>>()
    };
    let pairs = foreign(old).into_iter().zip(foreign(new));
    pairs.filter(|(old, new)| old != new).collect()
}

fn notify(found: &Found, notes: &mut Vec<String>, means: &Means<'_>) -> Result<Change> {
    let path = found.folder.join("config.toml");
    let (before, text) = read(&path)?;
    let client = means.client.to_string_lossy();
    let (set, entry) = trust::set_notify(&text.text, &client).map_err(in_file(&path))?;
    let version = found
        .version
        .map(|version| version.to_string())
        .unwrap_or_default();
    let since = agents::CODEX_HOOKS_SINCE;
    notes.push(if entry.status == Status::Kept {
        format!(
            "Codex {version} has no hooks, and its `notify` calls a program of yours, which stays: update Codex to {since} \
             or newer and run `checkpointd init` again"
        )
    } else {
        format!("Codex {version} has no hooks: by `notify` its turns are journaled; hooks come with {since}")
    });
    finish(
        found.agent,
        Kind::Trust,
        &path,
        before,
        &text,
        &set,
        vec![entry],
        means,
    )
}

fn prompt_change(
    agent: Agent,
    path: PathBuf,
    text: String,
    means: &Means<'_>,
    notes: &mut Vec<String>,
) -> Result<Change> {
    let before = files::read(&path)?;
    let name = format!(
        "/{}",
        path.file_stem().unwrap_or_default().to_string_lossy()
    );
    let written = means.record.files.get(&path);
    let is_ours = |bytes: &[u8]| written.is_some_and(|written| written.wrote == digest(bytes));
    let status = match &before {
        None => Status::Added,
        Some(bytes) if bytes == text.as_bytes() => Status::AlreadyThere,
        Some(bytes) if is_ours(bytes) => Status::Updated,
        Some(_) => {
            notes.push(format!("{} is your own and stays as it is", path.display()));
            Status::Kept
        }
    };
    let after = if status == Status::Kept {
        before.clone()
    } else {
        Some(text.into_bytes())
    };
    Ok(Change {
        agent,
        kind: Kind::Prompt,
        path,
        before,
        after,
        without_us: None,
        entries: vec![Entry::new(name, status)],
    })
}

/// Puts a change together, with what uninstalling is to leave: what was there before us, or where somebody has changed
/// the file since, that without our entries.
#[expect(
    clippy::too_many_arguments,
    reason = "a change has that many parts, and each caller has all of them at hand"
)]
fn finish(
    agent: Agent,
    kind: Kind,
    path: &Path,
    before: Option<Vec<u8>>,
    text: &Text,
    after: &str,
    entries: Vec<Entry>,
    means: &Means<'_>,
) -> Result<Change> {
    // A file that was not there and has nothing to say is not made.
    let after = if before.is_none() && after.is_empty() {
        None
    } else {
        Some(text.bytes(after))
    };
    let without_us = if before == after {
        None
    } else {
        undo::without_us(agent, kind, path, &before, means)?
    };
    Ok(Change {
        agent,
        kind,
        path: path.to_owned(),
        before,
        after,
        without_us,
        entries,
    })
}
