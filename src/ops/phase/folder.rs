//! The folder of phase records, compared with the journal. Files are projections: a missing one is written again,
//! a record of another program is imported, and a file that does not fit is reported and left as it is.
//!
//! This happens with every request, not by a command of its own: a record of another program is found without an import
//! by hand, at the price of one look into a small folder.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use actors::draft::derived;
use checkpoint::phase::{Phase, Phases, file, input};
use journal::{Draft, Event, Journal, PhaseRecord, Stream, Timestamp, named_file};
use serde::{Deserialize, Serialize};

use super::places::Places;
use crate::edit::files;

/// The extension of a file that was put aside.
const ASIDE: &str = "old";

/// A file that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// The file's path.
    pub(crate) file: String,
    pub(crate) error: String,
}

/// The outcome of a comparison.
pub(crate) struct Reconciled {
    /// All records, those of other programs too.
    pub(crate) phases: Phases,
    /// Files that do not fit.
    pub(crate) problems: Vec<Problem>,
    /// Names of files that were imported.
    pub(crate) imported: Vec<String>,
    /// Names of files that were written again.
    pub(crate) rebuilt: Vec<String>,
    /// Names of files that outlived a cleanup.
    pub(crate) leftover: Vec<String>,
}

/// How a file compares with the journal.
enum FileState {
    /// It says what the journal says.
    Fits,
    /// It says less: a crash came between the journal and the file.
    Behind,
    /// It says something that is to be journaled.
    News(Box<Event>),
    /// It was cleaned up, and is still there.
    Leftover,
    /// A sentence, and whether the journal has a file of this name.
    Wrong(String, bool),
}

/// Compares the folder with the journal. With `replace`, files that are damaged or differ from the journal are put aside
/// and written again.
///
/// `project_of` returns the project of a session.
///
/// # Errors
///
/// When the journal cannot be used.
pub(crate) fn reconcile(
    journal: &Journal,
    places: &Places,
    replace: bool,
    project_of: impl Fn(&str) -> Option<String>,
) -> journal::Result<Reconciled> {
    let folder = places.folder.as_path();
    let clean = |record| input::redacted(record, &places.redactor);
    let mut phases = actors::phase::load(journal)?;
    let mut found = Reconciled {
        phases: Phases::default(),
        problems: Vec::new(),
        imported: Vec::new(),
        rebuilt: Vec::new(),
        leftover: Vec::new(),
    };
    let Some(names) = names(folder, &mut found.problems) else {
        found.phases = phases;
        return Ok(found);
    };
    let own: Vec<String> = own(journal, &phases)
        .map(|phase| phase.file.clone())
        .collect();
    let (mut drafts, mut stale) = (Vec::new(), Vec::new());
    let mut new: HashMap<String, String> = HashMap::new();
    for name in &names {
        let bytes = read(&folder.join(name));
        match file_state(&phases, &new, name, bytes, clean, &project_of) {
            FileState::Fits => {}
            FileState::Behind => stale.push(name.clone()),
            FileState::News(event) => {
                if let Event::PhaseCreated { checkpoint, .. } = &*event {
                    new.insert(checkpoint.id.clone(), name.clone());
                    found.imported.push(name.clone());
                }
                drafts.push(draft(*event));
            }
            FileState::Leftover => found.leftover.push(name.clone()),
            FileState::Wrong(_, true) if replace && own.contains(name) => {
                match named_file::put_aside(&folder.join(name), ASIDE) {
                    Ok(_) => stale.push(name.clone()),
                    Err(error) => {
                        found.problem(folder, name, format!("cannot be renamed: {error}"));
                    }
                }
            }
            FileState::Wrong(error, is_known) => {
                let hint = if is_known {
                    "; `checkpointd progress phase rebuild` rewrites it from the journal"
                } else {
                    ""
                };
                found.problem(folder, name, format!("{error}{hint}"));
            }
        }
    }
    if !drafts.is_empty() {
        journal.append_wait(drafts)?;
        journal.settle()?;
        phases = actors::phase::load(journal)?;
    }
    for phase in self::own(journal, &phases) {
        if !names.contains(&phase.file) || stale.contains(&phase.file) {
            match write(folder, phase) {
                Ok(_) => found.rebuilt.push(phase.file.clone()),
                Err(error) => found.problem(folder, &phase.file, error),
            }
        }
    }
    found.phases = phases;
    Ok(found)
}

/// Returns the records that get files, newest first: imported ones get none (spec ENV-5).
fn own<'a>(journal: &Journal, phases: &'a Phases) -> impl Iterator<Item = &'a Phase> {
    let there = phases.newest_first().into_iter();
    there.filter(|phase| !journal.is_imported(phase.seq))
}

impl Reconciled {
    fn problem(&mut self, folder: &Path, name: &str, error: String) {
        self.problems.push(Problem {
            file: folder.join(name).display().to_string(),
            error,
        });
    }
}

/// Returns an event about phases. Its id is made from what it is about, so that it is journaled once.
pub(crate) fn draft(event: Event) -> Draft {
    let about = match &event {
        Event::PhaseCreated { checkpoint, .. } => checkpoint.id.clone(),
        Event::PhaseCompleted { checkpoint } | Event::PhaseDeleted { checkpoint } => {
            checkpoint.clone()
        }
        _ => String::new(),
    };
    derived(&Stream::phases(), Timestamp::now(), event, about)
}

/// Writes a record's file atomically. Returns its path.
///
/// # Errors
///
/// A sentence.
pub(crate) fn write(folder: &Path, phase: &Phase) -> Result<PathBuf, String> {
    let path = folder.join(&phase.file);
    files::write(&path, file::text(&phase.checkpoint).as_bytes()).map(|_| path)
}

/// Returns the names of records' files, in order, and removes half-written ones; none when the folder cannot be read.
fn names(folder: &Path, problems: &mut Vec<Problem>) -> Option<Vec<String>> {
    let read = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<Result<Vec<_>, _>>()
    });
    let mut names: Vec<String> = match read {
        Ok(names) => names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let error = format!("the folder cannot be read: {error}");
            problems.push(Problem {
                file: folder.display().to_string(),
                error,
            });
            return None;
        }
    };
    // Only this process writes here, one request at a time: a half-written file is left over from a process that was killed.
    for half in names
        .iter()
        .filter(|name| name.starts_with(files::HALF_WRITTEN))
    {
        let _ = fs::remove_file(folder.join(half));
    }
    names.retain(|name| file::is_name(name));
    names.sort();
    Some(names)
}

/// Reads a file, unless it is too large for a record.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = path.metadata().map_or(0, |meta| meta.len());
    if bytes > input::BYTES_MAX as u64 {
        return Err(format!(
            "has {bytes} bytes; the limit for a record is {}",
            input::BYTES_MAX
        ));
    }
    Ok(files::read(path)?.unwrap_or_default())
}

fn file_state(
    phases: &Phases,
    new: &HashMap<String, String>,
    name: &str,
    bytes: Result<Vec<u8>, String>,
    clean: impl Fn(PhaseRecord) -> PhaseRecord,
    project_of: impl Fn(&str) -> Option<String>,
) -> FileState {
    let here = phases
        .ever()
        .find(|phase| phase.file == name && !phase.deleted);
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return FileState::Wrong(error, here.is_some()),
    };
    if here.is_some_and(|phase| file::text(&phase.checkpoint).as_bytes() == bytes) {
        return FileState::Fits;
    }
    let checkpoint = match input::file(&bytes) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return FileState::Wrong(error, here.is_some()),
    };
    let copy_of =
        |file: &str| FileState::Wrong(format!("holds the record of {file} again"), here.is_some());
    let id = &checkpoint.id;
    let Some(known) = phases.get(id) else {
        return match new.get(id) {
            Some(first) => copy_of(first),
            None if here.is_some() => {
                FileState::Wrong(format!("holds another record, `{id}`"), true)
            }
            None => {
                let project = project_of(&checkpoint.session);
                let checkpoint = Box::new(clean(checkpoint));
                FileState::News(Box::new(Event::PhaseCreated {
                    checkpoint,
                    project,
                    file: name.to_owned(),
                    imported: true,
                }))
            }
        };
    };
    if known.deleted {
        return FileState::Leftover;
    }
    if known.file != name {
        return copy_of(&known.file);
    }
    // The journal has a record without secrets, or one from before they were redacted.
    match compared(checkpoint.clone(), &known.checkpoint) {
        FileState::Wrong(..) => compared(clean(checkpoint), &known.checkpoint),
        same => same,
    }
}

/// Compares the record in a file with the one that the journal has under its id.
fn compared(checkpoint: PhaseRecord, is: &PhaseRecord) -> FileState {
    let completed = PhaseRecord {
        completed: true,
        ..checkpoint.clone()
    };
    match (checkpoint == *is, completed == *is, is.completed) {
        (true, ..) => FileState::Fits,
        (_, true, true) => FileState::Behind,
        _ if checkpoint.completed
            && completed
                == (PhaseRecord {
                    completed: true,
                    ..is.clone()
                }) =>
        {
            FileState::News(Box::new(Event::PhaseCompleted {
                checkpoint: checkpoint.id,
            }))
        }
        _ => FileState::Wrong("differs from the journal".to_owned(), true),
    }
}
