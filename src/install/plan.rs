//! Plans an installation: each agent's files before and after.

use std::path::{Path, PathBuf};

use journal::{Agent, Home};

use super::agents::{hooks_file, installer};
use super::change::{AgentPlan, Change, Entry, Kind, Scope, Status, digest};
use super::edits::{Edit, Result};
use super::found::{Found, on_path};
use super::installer::Installer;
use super::record::Record;
use super::{hooks, prompts, undo};
use crate::edit::files;
use crate::service::place;

/// The inputs of a plan.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    /// The paths of our own data.
    pub(crate) home: &'a Home,
    pub(crate) record: &'a Record,
    pub(crate) client: &'a Path,
    /// The daemon's longest wait for a reply.
    pub(crate) stop_wait_ms: u64,
    /// Whether the commands of [`prompts`] are added; those that were are kept up to date.
    pub(crate) adds_commands: bool,
}

/// Returns the hook client that belongs to this program.
///
/// Prefers the name on `PATH` if it leads to the same file: package managers keep that name and
/// move the file, and a hook with the file's path would stop working at the next update. If this program is in a
/// package manager's cache, it is the client that [`place::settle`] copies from there.
pub(crate) fn client(home: &Home) -> Result<PathBuf> {
    let own = std::env::current_exe()
        .map_err(|error| format!("cannot find this program's path: {error}"))?;
    let beside = own.with_file_name(hooks::CLIENT);
    let on_path = on_path(hooks::CLIENT).filter(|path| path.is_absolute());
    let copies = place::copies(home).map(|folder| folder.join(hooks::CLIENT));
    let is_same = |path: &PathBuf| path.canonicalize().ok() == beside.canonicalize().ok();
    let client = match (copies, on_path) {
        (Some(copy), _) if beside.is_file() => copy,
        (_, Some(path)) if !beside.is_file() || is_same(&path) => path,
        _ if beside.is_file() => beside,
        _ => {
            let name = hooks::CLIENT;
            let own = own.display();
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

pub(crate) fn plan(found: &Found, scope: &Scope, means: &Means<'_>) -> Result<AgentPlan> {
    let agent = found.agent;
    let installer = installer(agent);
    let folder = match (scope, installer.project) {
        (Scope::User, _) => found.folder.clone(),
        (Scope::Project(project), Some(folder)) => project.join(folder),
        (Scope::Project(_), None) => {
            let name = agent.name();
            let problem = format!("{name} supports no hooks in a project: omit --project");
            return Err(problem);
        }
    };
    let mut notes = notes(found, scope, installer);
    let wanted = installer.wanted(found.version, means.client, means.stop_wait_ms);
    let file = hooks_file(agent, &folder);
    let edits = installer.edits(found, &file, &wanted, means.client, &mut notes)?;
    let changes = edits.into_iter().map(|edit| change(agent, edit, means));
    let mut changes = changes.collect::<Result<Vec<_>>>()?;
    let prompts = prompts::files(installer, &folder, *scope != Scope::User);
    let is_wanted = |path: &PathBuf| means.adds_commands || means.record.files.contains_key(path);
    for (path, text) in prompts.into_iter().filter(|(path, _)| is_wanted(path)) {
        changes.push(prompt_change(agent, path, text, means, &mut notes)?);
    }
    if let Scope::Project(project) = scope {
        // Codex's trust in hooks is in the user's own settings.
        let all = changes.iter();
        for change in all.filter(|change| change.path.starts_with(project)) {
            files::refuse_outside(project, &change.path)?;
        }
    }
    Ok(AgentPlan {
        agent,
        version: found.version,
        changes,
        notes,
        folder,
    })
}

fn notes(found: &Found, scope: &Scope, installer: &Installer) -> Vec<String> {
    let mut notes = Vec::new();
    if found.program.is_none() {
        let word = found.agent.word();
        let note = format!("`{word}` is not on PATH; its settings are written anyway");
        notes.push(note);
    }
    if let Scope::Project(project) = scope {
        notes.push(installer.project_note(project));
        let twice = "if the hooks are in your user settings too, each call arrives twice and is journaled once";
        notes.push(twice.into());
    }
    notes
}

fn prompt_change(
    agent: Agent,
    path: PathBuf,
    text: String,
    means: &Means<'_>,
    notes: &mut Vec<String>,
) -> Result<Change> {
    let before = files::read(&path)?;
    let stem = path.file_stem().unwrap_or_default();
    let name = format!("/{}", stem.to_string_lossy());
    let written = means.record.files.get(&path);
    let is_ours = |bytes: &[u8]| written.is_some_and(|written| written.wrote == digest(bytes));
    let status = match &before {
        None => Status::Added,
        Some(bytes) if bytes == text.as_bytes() => Status::AlreadyThere,
        Some(bytes) if is_ours(bytes) => Status::Updated,
        Some(_) => {
            notes.push(format!("{} is your own and is kept", path.display()));
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

/// Turns an edit into a change, with the content to leave after uninstalling: the original bytes,
/// or, if the user has edited the file since, its current bytes without our entries.
fn change(agent: Agent, edit: Edit, means: &Means<'_>) -> Result<Change> {
    let Edit {
        kind,
        path,
        before,
        text,
        after,
        entries,
    } = edit;
    // An empty file is not created.
    let after = if before.is_none() && after.is_empty() {
        None
    } else {
        Some(text.bytes(&after))
    };
    let without_us = if before == after {
        None
    } else {
        let file = undo::Ours {
            agent,
            kind,
            path: &path,
            home: means.home,
            record: means.record,
        };
        file.undone(before.as_deref(), &mut Vec::new())?.0
    };
    Ok(Change {
        agent,
        kind,
        path,
        before,
        after,
        without_us,
        entries,
    })
}
