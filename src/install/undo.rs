//! Plans an uninstallation: the original bytes for files unchanged since, otherwise the current
//! content without our entries. Agents rewrite their settings, so the second is common.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use journal::{Agent, Home};

use super::agents::{hooks_file, installer};
use super::change::{AgentPlan, Change, Entry, Kind, Status, digest};
use super::found::Found;
use super::means::Means;
use super::record::{Record, Written};
use super::{prompts, settings, tables};
use crate::edit::files::{self, Text};

type Result<T> = std::result::Result<T, String>;

/// Plans for one agent: its user settings and all its files in the record.
pub(crate) fn plan(found: &Found, home: &Home, record: &Record) -> Result<AgentPlan> {
    let agent = found.agent;
    let mut plan = AgentPlan {
        agent,
        folder: found.folder.clone(),
        version: None,
        changes: Vec::new(),
        notes: Vec::new(),
    };
    for (path, kind) in paths(found, record) {
        let before = files::read(&path)?;
        let written = record.files.get(&path);
        let (after, entries) = match (written, kind) {
            (Some(written), _) if is_as_written(&before, written, home, record) => (
                record.before(home, written)?,
                vec![Entry::new("all of ours", Status::Removed)],
            ),
            (_, Kind::Own) => own(agent, &path, before.clone(), written, &mut plan.notes),
            (_, Kind::Prompt) => prompt(agent, &path, before.clone(), written, &mut plan.notes),
            _ => strip(agent, kind, &path, &before, written, home, record)?,
        };
        if before != after || written.is_some() {
            let path = path.clone();
            plan.changes.push(Change {
                agent,
                kind,
                path,
                before,
                after,
                without_us: None,
                entries,
            });
        }
    }
    Ok(plan)
}

/// Returns a file's content without our entries.
pub(super) fn without_us(
    agent: Agent,
    kind: Kind,
    path: &Path,
    now: &Option<Vec<u8>>,
    means: &Means<'_>,
) -> Result<Option<Vec<u8>>> {
    let written = means.record.files.get(path);
    match written {
        Some(written) if is_as_written(now, written, means.home, means.record) => {
            means.record.before(means.home, written)
        }
        _ if kind == Kind::Own => Ok(now
            .clone()
            .filter(|bytes| !installer(agent).is_ours(&files::text(Some(bytes))))),
        _ => {
            strip(agent, kind, path, now, written, means.home, means.record).map(|(bytes, _)| bytes)
        }
    }
}

/// Returns whether a file is unchanged since and its original content is still known.
fn is_as_written(now: &Option<Vec<u8>>, written: &Written, home: &Home, record: &Record) -> bool {
    now.as_deref()
        .is_some_and(|bytes| digest(bytes) == written.wrote)
        && record.before(home, written).is_ok()
}

/// Returns the files of an agent that may hold entries of ours.
fn paths(found: &Found, record: &Record) -> Vec<(PathBuf, Kind)> {
    let installer = installer(found.agent);
    let mut paths = vec![(
        hooks_file(found.agent, &found.folder),
        installer.hooks_kind(found),
    )];
    paths.extend(installer.other_files(&found.folder));
    paths.extend(
        prompts::files(installer, &found.folder, false)
            .into_iter()
            .map(|(path, _)| (path, Kind::Prompt)),
    );
    for (path, written) in record
        .files
        .iter()
        .filter(|(_, written)| written.agent == found.agent)
    {
        if !paths.iter().any(|(known, _)| known == path) {
            paths.push((path.clone(), written.kind));
        }
    }
    paths
}

type Undone = (Option<Vec<u8>>, Vec<Entry>);

/// A file with nothing but our hooks goes; another one in its place stays.
fn own(
    agent: Agent,
    path: &Path,
    before: Option<Vec<u8>>,
    written: Option<&Written>,
    notes: &mut Vec<String>,
) -> Undone {
    if installer(agent).is_ours(&files::text(before.as_deref())) {
        return (None, vec![Entry::new("all of ours", Status::Removed)]);
    }
    if before.is_some() && written.is_some() {
        notes.push(format!(
            "{} has hooks of yours and is kept; remove those of checkpointd",
            path.display()
        ));
    }
    (before, Vec::new())
}

fn prompt(
    agent: Agent,
    path: &Path,
    before: Option<Vec<u8>>,
    written: Option<&Written>,
    notes: &mut Vec<String>,
) -> Undone {
    let name = format!(
        "/{}",
        path.file_stem().unwrap_or_default().to_string_lossy()
    );
    let folder = path.parent().and_then(Path::parent).unwrap_or(path);
    let is_ours = prompts::files(installer(agent), folder, false)
        .into_iter()
        .any(|(known, text)| known == path && before.as_deref() == Some(text.as_bytes()));
    if is_ours {
        return (None, vec![Entry::new(name, Status::Removed)]);
    }
    if before.is_some() && written.is_some() {
        notes.push(format!(
            "{} has been edited and is kept; remove it if you do not need it",
            path.display()
        ));
    }
    let entries = before
        .iter()
        .map(|_| Entry::new(&name, Status::Kept))
        .collect();
    (before, entries)
}

fn strip(
    agent: Agent,
    kind: Kind,
    path: &Path,
    now: &Option<Vec<u8>>,
    written: Option<&Written>,
    home: &Home,
    record: &Record,
) -> Result<Undone> {
    let Some(bytes) = now else {
        return Ok((None, Vec::new()));
    };
    let text = Text::of(Some(bytes), path)?;
    // Without the backup the entries can still be removed, but not byte for byte.
    let original = written.and_then(|written| record.before(home, written).ok());
    let in_file = |error: String| format!("{}: {error}; nothing was changed", path.display());
    let (stripped, entries) = if kind == Kind::Settings {
        let original = original
            .clone()
            .flatten()
            .map(|bytes| Text::of(Some(&bytes), path))
            .transpose()?;
        settings::strip(&text.text, original.as_ref().map(|text| text.text.as_str()))
            .map_err(in_file)?
    } else if kind == Kind::Tables {
        tables::strip(&text.text)
    } else {
        strip_trust(agent, path, &text.text, record).map_err(in_file)?
    };
    let was_absent = matches!(original, Some(None));
    let is_blank = if kind == Kind::Settings {
        settings::is_blank(&stripped)
    } else {
        stripped.trim().is_empty()
    };
    Ok((
        if was_absent && is_blank {
            None
        } else {
            Some(text.bytes(&stripped))
        },
        entries,
    ))
}

fn strip_trust(
    agent: Agent,
    path: &Path,
    text: &str,
    record: &Record,
) -> Result<(String, Vec<Entry>)> {
    let user = path.parent().map(|folder| hooks_file(agent, folder));
    let recorded = record
        .files
        .iter()
        .filter(|(_, written)| written.agent == agent && written.kind == Kind::Settings);
    let files: BTreeSet<PathBuf> = recorded.map(|(path, _)| path.clone()).chain(user).collect();
    let files: Vec<PathBuf> = files.into_iter().collect();
    installer(agent).strip_trust(text, &files)
}
