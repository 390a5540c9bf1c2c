//! Rebuilding the files of progress documents from the journal, after they were deleted or a crash left them outdated.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use checkpoint::progress;
use journal::{Event, Home, Journal, ProgressKind, Stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::documents::{Error, TURN, document, project_root, read};
use super::files::Place;
use crate::{named_file, session_state};

/// A larger file was not written by this program.
pub(super) const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Which files to rebuild.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rebuild<'a> {
    /// Only the files of this session.
    pub session: Option<&'a Stream>,
    /// Only the files of this project.
    pub project: Option<&'a str>,
    /// Also replace edited files; their content is kept beside them.
    pub force: bool,
}

/// The result of a rebuild.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebuilt {
    /// Files and links that were written.
    pub rebuilt: Vec<PathBuf>,
    /// Number of files that were up to date.
    pub unchanged: u64,
    /// Edited files, which were not changed.
    pub edited: Vec<PathBuf>,
    /// Files with the content of edited files that were replaced.
    pub kept: Vec<PathBuf>,
    /// Files whose project no longer exists.
    pub gone: Vec<PathBuf>,
    /// Files that could not be written.
    pub problems: Vec<Problem>,
}

/// A file that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Path of the file.
    pub file: PathBuf,
    /// The error message.
    pub error: String,
}

/// A file compared with the journal.
pub(super) enum FileState {
    UpToDate,
    Missing,
    /// It holds an older document of the journal.
    Outdated,
    Edited,
}

/// A file, and the events of the documents that were written to it, oldest first.
pub(super) struct Known {
    place: Place,
    pub(super) documents: Vec<u64>,
}

/// Rebuilds the missing and outdated files of documents. Edited files stay, unless `force` is set. The folder of a deleted
/// project is not created again.
///
/// # Errors
///
/// When the journal cannot be read. A file that cannot be written is listed in [`Rebuilt::problems`].
pub fn rebuild(journal: &Journal, home: &Home, order: Rebuild<'_>) -> Result<Rebuilt, Error> {
    let _turn = TURN.lock();
    journal.settle()?;
    let mut done = Rebuilt::default();
    // The link of a place points to its newest document, of any session.
    let mut latest: HashMap<PathBuf, (u64, PathBuf)> = HashMap::new();
    let mut places: Vec<Place> = Vec::new();
    for entry in journal
        .sessions()
        .into_iter()
        .filter(|entry| entry.stream.agent.is_agent())
    {
        if session_state::load(journal, &entry.stream)?
            .progress
            .is_none()
        {
            continue;
        }
        let is_session = order.session.is_none_or(|session| *session == entry.stream);
        for (path, Known { place, documents }) in
            known(journal, &home.progress, entry.stream.session)?
        {
            let newest = *documents.last().expect("each file has one");
            let Some(document) = document(journal, newest)? else {
                continue;
            };
            let link = place.latest();
            let is_newer = latest.get(&link).is_none_or(|(seq, _)| *seq < newest);
            if document.kind != ProgressKind::Incremental && is_newer {
                latest.insert(link, (newest, path.clone()));
            }
            if !is_session
                || order
                    .project
                    .is_some_and(|project| project_root(&document.project) != project)
            {
                continue;
            }
            if !place.is_available(&home.progress) {
                done.gone.push(path);
                continue;
            }
            let text = progress::render(&document);
            let state = file_state(journal, &path, &text, &documents)?;
            if let Err(error) = done.restore(&place, &path, &text, state, order.force) {
                done.problems.push(Problem {
                    file: path,
                    error: error.to_string(),
                });
            }
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    for place in places {
        if let Some((_, path)) = latest.get(&place.latest()) {
            done.point_to(&place, path);
        }
    }
    done.rebuilt.sort();
    Ok(done)
}

impl Rebuilt {
    /// Points the link of a place to its newest document, if that exists.
    fn point_to(&mut self, place: &Place, path: &Path) {
        let link = place.latest();
        let target = fs::canonicalize(path).ok();
        if !path.exists() || target.is_some() && fs::canonicalize(&link).ok() == target {
            return;
        }
        match place.point_to(path) {
            Ok(None) => self.rebuilt.push(link),
            // The user's own file has this name, and stays.
            Ok(Some(_)) => {}
            Err(error) => self.problems.push(Problem {
                file: link,
                error: error.to_string(),
            }),
        }
    }

    /// Writes a file, unless it is up to date or was edited.
    fn restore(
        &mut self,
        place: &Place,
        path: &Path,
        text: &str,
        state: FileState,
        force: bool,
    ) -> io::Result<()> {
        match state {
            FileState::UpToDate => self.unchanged += 1,
            FileState::Edited if !force => self.edited.push(path.to_owned()),
            FileState::Missing | FileState::Outdated | FileState::Edited => {
                place.prepare()?;
                if matches!(state, FileState::Edited) {
                    self.kept.push(named_file::put_aside(path, "kept")?);
                }
                place.write(path, text, false)?;
                self.rebuilt.push(path.to_owned());
            }
        }
        Ok(())
    }
}

/// Returns the files of a session's documents, at their present places. `data` is the folder of those in no project.
pub(super) fn known(
    journal: &Journal,
    data: &Path,
    session: Uuid,
) -> Result<BTreeMap<PathBuf, Known>, Error> {
    let mut known: BTreeMap<PathBuf, Known> = BTreeMap::new();
    for envelope in journal.stream(session, 0, usize::MAX)? {
        if !matches!(envelope.event, Event::ProgressWritten { .. }) {
            continue;
        }
        let Some((file, document)) = read(&envelope) else {
            continue;
        };
        // What an imported document says is no reason to write into a project (spec ENV-5).
        let place = if journal.is_imported(envelope.seq) {
            Place::in_data(data, &document.project)
        } else {
            Place::of_file(Path::new(&file), session, &document.project, data)
        };
        let path = place.file(session, document.kind);
        known
            .entry(path)
            .or_insert(Known {
                place,
                documents: Vec::new(),
            })
            .documents
            .push(envelope.seq);
    }
    Ok(known)
}

/// Compares a file with `text`, which is that of the last of its documents.
pub(super) fn file_state(
    journal: &Journal,
    path: &Path,
    text: &str,
    documents: &[u64],
) -> Result<FileState, Error> {
    let is = match named_file::bytes(path, DOCUMENT_BYTES_MAX) {
        Ok(is) => is,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileState::Missing),
        Err(_) => return Ok(FileState::Edited),
    };
    if is == text.as_bytes() {
        return Ok(FileState::UpToDate);
    }
    // After a crash between journal and file, the file still holds the previous document.
    for seq in documents.iter().rev().skip(1) {
        if document(journal, *seq)?.is_some_and(|older| progress::render(&older).as_bytes() == is) {
            return Ok(FileState::Outdated);
        }
    }
    Ok(FileState::Edited)
}
