//! A hook of git, written on request and removed by an uninstallation.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use journal::{Agent, Home};

use super::apply::{self, Way};
use super::change::{AgentPlan, Change, Entry, Kind, Status, digest};
use super::record::Record;
use crate::edit::files;

type Result<T> = std::result::Result<T, String>;

/// The record's entry of a file that belongs to no agent.
const OWNER: Agent = Agent::Daemon;

/// Writes a hook, unless there is one that we did not write.
pub(crate) fn install(home: &Home, path: &Path, script: &str) -> Result<()> {
    let before = files::read(path)?;
    let record = Record::load(home)?;
    let is_ours = |bytes: &Vec<u8>| {
        let written = record.files.get(path);
        written.is_some_and(|written| written.wrote == digest(bytes))
    };
    if before.as_ref().is_some_and(|bytes| !is_ours(bytes)) {
        return Err(format!("{} is there already", path.display()));
    }
    let change = Change {
        agent: OWNER,
        kind: Kind::Own,
        path: path.to_owned(),
        before,
        after: Some(script.as_bytes().to_vec()),
        without_us: None,
        entries: Vec::new(),
    };
    apply::apply(home, &[change], Way::In)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(|error| error.to_string())
}

/// Plans the removal of all hooks that are as they were written. Others stay.
pub(crate) fn removal(record: &Record) -> Result<AgentPlan> {
    let mut plan = AgentPlan {
        agent: OWNER,
        folder: Path::new("/").to_owned(),
        version: None,
        changes: Vec::new(),
        notes: Vec::new(),
    };
    let written = record.files.iter();
    for (path, written) in written.filter(|(_, written)| written.agent == OWNER) {
        let before = files::read(path)?;
        let is_ours = |bytes: &Vec<u8>| digest(bytes) == written.wrote;
        let after = before.clone().filter(|bytes| !is_ours(bytes));
        if after.is_some() {
            let path = path.display();
            let note = format!("{path} has been edited and is kept");
            plan.notes.push(note);
        }
        plan.changes.push(Change {
            agent: OWNER,
            kind: Kind::Own,
            path: path.clone(),
            before,
            after,
            without_us: None,
            entries: vec![Entry::new("a hook of git", Status::Removed)],
        });
    }
    Ok(plan)
}
