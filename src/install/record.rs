//! Records what was written into agents' files and the content before: `installed/record.json` in
//! our data folder, and the original bytes, each in a file named by their SHA-256.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use journal::home::create_folder;
use journal::{Agent, Home, named_file};
use serde::{Deserialize, Serialize};

use super::change::{Kind, digest};
use crate::edit::files;

type Result<T> = std::result::Result<T, String>;

/// The record's format version; a newer one is not touched.
const VERSION: u32 = 1;

/// An agent's file that we have written to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The agent that the file belongs to.
    pub(crate) agent: Agent,
    pub(crate) kind: Kind,
    pub(crate) wrote: String,
    /// SHA-256 of the original content; `None` if the file did not exist.
    pub(crate) before: Option<String>,
    /// Folders created for it, innermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// All files that we wrote to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    pub(crate) files: BTreeMap<PathBuf, Written>,
}

impl Record {
    /// Reads the record; empty if nothing was installed yet.
    pub(crate) fn load(home: &Home) -> Result<Self> {
        let path = home.installed.join("record.json");
        let Some(bytes) = files::read(&path)? else {
            return Ok(Self {
                version: VERSION,
                files: BTreeMap::new(),
            });
        };
        let record: Self = serde_json::from_slice(&bytes).map_err(|error| {
            format!(
                "{} is damaged ({error}); move it away and run `checkpointd init` again",
                path.display()
            )
        })?;
        if record.version > VERSION {
            return Err(format!(
                "{} was written by a newer checkpointd; use that one",
                path.display()
            ));
        }
        Ok(record)
    }

    /// Writes the record, and removes backups that it no longer refers to.
    pub(super) fn save(&self, home: &Home) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).expect("a record is plain data");
        files::write(&home.installed.join("record.json"), &bytes)?;
        for entry in fs::read_dir(backups(home)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_it =
                |file: &Written| file.before.as_deref().is_some_and(|before| name == *before);
            if !self.files.values().any(is_it) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Returns a file's original bytes; `None` if it did not exist.
    pub(super) fn before(&self, home: &Home, written: &Written) -> Result<Option<Vec<u8>>> {
        let Some(before) = &written.before else {
            return Ok(None);
        };
        let path = backups(home).join(before);
        match files::read(&path)? {
            Some(bytes) if digest(&bytes) == *before => Ok(Some(bytes)),
            _ => Err(format!("the backup {} is lost or damaged", path.display())),
        }
    }
}

/// Saves bytes under their digest, and returns it.
pub(super) fn keep(home: &Home, bytes: &[u8]) -> Result<String> {
    let name = digest(bytes);
    files::write(&backups(home).join(&name), bytes)?;
    Ok(name)
}

/// Waits for exclusive access: no other process installs or uninstalls.
pub(super) fn lock(home: &Home) -> Result<File> {
    let failed =
        |error: std::io::Error| format!("{} cannot be used: {error}", home.installed.display());
    create_folder(&home.installed).map_err(failed)?;
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    let file = named_file::open_own(&home.installed.join("lock"), &mut options).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn backups(home: &Home) -> PathBuf {
    home.installed.join(Path::new("before"))
}
