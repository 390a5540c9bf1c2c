//! Repairs sealed segments from their parity (spec JRNL-27).

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::files::{Form, Segment, replace, sync_dir};
use super::parity::{self, Examined, Repaired};
use super::sealed::Sealed;
use crate::error::{Doing, Error, Result};
use crate::{Timestamp, named_file};
use parking_lot::{Mutex, MutexGuard};

/// The list of what was repaired is not continued beyond this size.
const LIST_BYTES_MAX: u64 = 64 * 1024;

/// Held while a sealed segment is replaced by what was read from it, so that no thread restores older bytes.
static REPLACING: Mutex<()> = Mutex::new(());

fn replacing() -> MutexGuard<'static, ()> {
    REPLACING.lock()
}

/// Moves a complete sealed segment to its place, durably.
pub(crate) fn put(temporary: &Path, sealed: &Path) -> Result<()> {
    let _alone = replacing();
    fs::rename(temporary, sealed).doing("rename", temporary)?;
    sync_dir(sealed.parent().unwrap_or(Path::new(".")))
}

impl Segment {
    /// Examines a sealed segment and repairs it if it is damaged. Returns what was repaired, in words.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or more is damaged than can be repaired.
    pub(crate) fn examine(&self) -> Result<Option<String>> {
        if self.form != Form::Sealed {
            return Ok(None);
        }
        repair(&self.path).map(|(_, said)| said)
    }
}

/// Returns the segment of a file that could not be read, repaired, and what was damaged, in words.
///
/// # Errors
///
/// If the file cannot be read, or more is damaged than can be repaired.
pub(super) fn repair(path: &Path) -> Result<(Sealed, Option<String>)> {
    let _alone = replacing();
    let bytes = named_file::own(path, u64::MAX).doing("read", path)?;
    let damaged = |problem| Err(Error::damaged(path.display().to_string(), problem));
    let Repaired { file, damaged, all } = match parity::examine(&bytes) {
        Examined::Whole => return Ok((Sealed::open(path)?, None)),
        Examined::Unprotected => {
            // The sums of its blocks say whether the rest is whole.
            let sealed = Sealed::open(path)?;
            sealed.read_all(&mut Vec::new())?;
            let file = sealed.with_parity(&bytes)?;
            Repaired {
                file,
                damaged: 1,
                all: 1,
            }
        }
        Examined::Lost { parts, packets } => {
            return damaged(format!(
                "{parts} of its parts and {packets} of its packets of parity are damaged, more than can be repaired"
            ));
        }
        Examined::Damaged(repaired) => repaired,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let said = format!("{damaged} of {all} parts of the log's segment {name} were damaged");
    if let Err(error) = replace(path, &file) {
        tracing::warn!(%error, "{said}, and it could not be written again.");
        return Ok((Sealed::of_bytes(path, file)?, Some(said)));
    }
    tracing::warn!("{said}; it was repaired from its parity.");
    if let Err(error) = note(path, &said) {
        tracing::warn!(%error, "Cannot record a repair.");
    }
    Ok((Sealed::open(path)?, Some(said)))
}

/// A line of the file `repaired` in the journal's folder: microseconds, a space, and words.
fn note(segment: &Path, said: &str) -> io::Result<()> {
    let Some(journal) = segment.parent().and_then(Path::parent) else {
        return Ok(());
    };
    let mut options = File::options();
    let mut list = named_file::open_own(&list(journal), options.append(true).create(true))?;
    if list.metadata()?.len() > LIST_BYTES_MAX {
        return Ok(());
    }
    list.write_all(format!("{} {said}\n", Timestamp::now().as_micros()).as_bytes())
}

fn list(journal: &Path) -> PathBuf {
    journal.join("repaired")
}

/// Returns the recorded repairs of a journal.
pub(crate) fn repaired(journal: &Path) -> Vec<(Timestamp, String)> {
    let text = named_file::own_text(&list(journal)).unwrap_or_default();
    let line = |line: &str| {
        let (at, said) = line.split_once(' ')?;
        Some((Timestamp::from_micros(at.parse().ok()?), said.to_owned()))
    };
    text.lines().filter_map(line).collect()
}
