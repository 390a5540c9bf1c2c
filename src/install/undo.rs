//! Plans an uninstallation: the original bytes for files unchanged since, otherwise the current
//! content without our entries. Agents rewrite their settings, so the second is common.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use journal::{Agent, Home};

use super::agents::{hooks_file, installer};
use super::change::{AgentPlan, Change, Entry, Kind, Status, digest};
use super::found::Found;
use super::record::Record;
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
        let file = Ours {
            agent,
            kind,
            path: &path,
            home,
            record,
        };
        let (after, entries) = file.undone(before.as_deref(), &mut plan.notes)?;
        if before != after || record.files.contains_key(&path) {
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

/// Returns the files of an agent that may hold entries of ours.
fn paths(found: &Found, record: &Record) -> Vec<(PathBuf, Kind)> {
    let installer = installer(found.agent);
    let mut paths = vec![(
        hooks_file(found.agent, &found.folder),
        installer.hooks_kind(found),
    )];
    paths.extend(installer.other_files(&found.folder));
    let prompts = prompts::files(installer, &found.folder, false).into_iter();
    paths.extend(prompts.map(|(path, _)| (path, Kind::Prompt)));
    let files = record.files.iter();
    for (path, written) in files.filter(|(_, written)| written.agent == found.agent) {
        if !paths.iter().any(|(known, _)| known == path) {
            paths.push((path.clone(), written.kind));
        }
    }
    paths
}

/// The content to leave, and the entries that went.
type Undone = (Option<Vec<u8>>, Vec<Entry>);

/// A file that may hold entries of ours.
pub(super) struct Ours<'a> {
    pub(super) agent: Agent,
    pub(super) kind: Kind,
    pub(super) path: &'a Path,
    pub(super) home: &'a Home,
    pub(super) record: &'a Record,
}

impl Ours<'_> {
    /// Returns what is left of the file without us.
    pub(super) fn undone(&self, now: Option<&[u8]>, notes: &mut Vec<String>) -> Result<Undone> {
        let written = self.record.files.get(self.path);
        let is_as_written =
            |bytes: &[u8]| written.is_some_and(|written| digest(bytes) == written.wrote);
        // Without the backup the entries can still be removed, but not byte for byte.
        let original = written.and_then(|written| self.record.before(self.home, written).ok());
        match (original, self.kind) {
            (Some(original), _) if now.is_some_and(is_as_written) => {
                Ok((original, vec![Entry::new("all of ours", Status::Removed)]))
            }
            (_, Kind::Own | Kind::Prompt) => Ok(self.whole(now, notes)),
            (original, _) => self.strip(now, original),
        }
    }

    /// A file that is all ours goes; another one in its place stays.
    fn whole(&self, now: Option<&[u8]>, notes: &mut Vec<String>) -> Undone {
        let installer = installer(self.agent);
        let path = self.path.display();
        let (is_ours, name, kept) = if self.kind == Kind::Prompt {
            let folder = self.path.parent().and_then(Path::parent);
            let prompts = prompts::files(installer, folder.unwrap_or(self.path), false);
            let mut prompts = prompts.into_iter();
            let is_ours =
                prompts.any(|(known, text)| known == self.path && now == Some(text.as_bytes()));
            let name = self.path.file_stem().unwrap_or_default();
            (
                is_ours,
                format!("/{}", name.to_string_lossy()),
                format!("{path} has been edited and is kept; remove it if you do not need it"),
            )
        } else {
            (
                installer.is_ours(&files::text(now)),
                "all of ours".to_owned(),
                format!("{path} has hooks of yours and is kept; remove those of checkpointd"),
            )
        };
        if is_ours {
            return (None, vec![Entry::new(name, Status::Removed)]);
        }
        if now.is_some() && self.record.files.contains_key(self.path) {
            notes.push(kept);
        }
        let is_named = now.is_some() && self.kind == Kind::Prompt;
        let entry = is_named.then(|| Entry::new(name, Status::Kept));
        (now.map(<[u8]>::to_vec), entry.into_iter().collect())
    }

    /// `original` is none if it is not known, and holds none if there was no file.
    fn strip(&self, now: Option<&[u8]>, original: Option<Option<Vec<u8>>>) -> Result<Undone> {
        let Some(bytes) = now else {
            return Ok((None, Vec::new()));
        };
        let text = Text::of(Some(bytes), self.path)?;
        let in_file =
            |error: String| format!("{}: {error}; nothing was changed", self.path.display());
        let was_absent = matches!(original, Some(None));
        let (stripped, entries) = match self.kind {
            Kind::Settings => {
                let original = original.flatten();
                let original = original.map(|bytes| Text::of(Some(&bytes), self.path));
                let original = original.transpose()?.map(|original| original.text);
                settings::strip(&text.text, original.as_deref()).map_err(in_file)?
            }
            Kind::Tables => tables::strip(&text.text),
            _ => self.strip_trust(&text.text).map_err(in_file)?,
        };
        let is_blank = match self.kind {
            Kind::Settings => settings::is_blank(&stripped),
            _ => stripped.trim().is_empty(),
        };
        let is_gone = was_absent && is_blank;
        Ok(((!is_gone).then(|| text.bytes(&stripped)), entries))
    }

    fn strip_trust(&self, text: &str) -> Result<(String, Vec<Entry>)> {
        let user = self.path.parent();
        let user = user.map(|folder| hooks_file(self.agent, folder));
        let recorded =
            self.record.files.iter().filter(|(_, written)| {
                written.agent == self.agent && written.kind == Kind::Settings
            });
        let files: BTreeSet<PathBuf> = recorded.map(|(path, _)| path.clone()).chain(user).collect();
        let files: Vec<PathBuf> = files.into_iter().collect();
        installer(self.agent).strip_trust(text, &files)
    }
}
