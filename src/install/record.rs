//! What was written into agents' files and what was there before: `installed/record.json` in our own data folder, and
//! the bytes before, each in a file named by their SHA-256.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use journal::{Agent, Home};
use serde::{Deserialize, Serialize};

use super::change::{Kind, digest};
use crate::edit::files;

type Result<T> = std::result::Result<T, String>;

/// The form of the record; a newer one is not touched.
const VERSION: u32 = 1;

/// A file of an agent into which we have written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Whose file it is.
    pub(crate) agent: Agent,
    /// What it is to us.
    pub(crate) kind: Kind,
    /// SHA-256 of what we wrote.
    pub(crate) wrote: String,
    /// SHA-256 of what was there before; none where nothing was.
    pub(crate) before: Option<String>,
    /// Folders made for it, innermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// All files into which we have written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// By path.
    pub(crate) files: BTreeMap<PathBuf, Written>,
}

impl Record {
    /// Reads the record; an empty one where nothing was installed yet.
    ///
    /// # Errors
    ///
    /// One sentence, when it cannot be read or is a newer version's.
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

    /// Writes the record, and drops the bytes that nothing refers to any more.
    pub(super) fn save(&self, home: &Home) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).expect("a record is plain data");
        files::write(&home.installed.join("record.json"), &bytes)?;
        for entry in fs::read_dir(backups(home)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !self
                .files
                .values()
                .any(|file| file.before.as_deref().is_some_and(|before| name == *before))
            {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Returns the bytes that were in a file before us; none where it was not there.
    ///
    /// # Errors
    ///
    /// When they are lost or damaged.
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

/// Keeps bytes, and returns their name.
pub(super) fn keep(home: &Home, bytes: &[u8]) -> Result<String> {
    let name = digest(bytes);
    files::write(&backups(home).join(&name), bytes)?;
    Ok(name)
}

/// Waits until no other process installs or uninstalls.
pub(super) fn lock(home: &Home) -> Result<File> {
    let failed =
        |error: std::io::Error| format!("{} cannot be used: {error}", home.installed.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&home.installed)
        .map_err(failed)?;
    let path = home.installed.join("lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn backups(home: &Home) -> PathBuf {
    home.installed.join(Path::new("before"))
}
