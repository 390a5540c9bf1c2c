//! Writing the files of documents anew from the journal: those that are gone, and those that a crash has left behind.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use checkpoint::progress::{self, Document};
use journal::{Agent, Event, Home, Journal, ProgressKind, Stream};
use serde::Serialize;
use uuid::Uuid;

use super::files::Place;
use super::{Error, TURN, project_root, read};
use crate::session_state;

/// Which files, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rebuild<'a> {
    /// Only those of this session.
    pub session: Option<&'a Stream>,
    /// Only those of this project.
    pub project: Option<&'a str>,
    /// Also those that somebody has changed; what they hold is kept beside them.
    pub force: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Files and links that were written.
    pub rebuilt: Vec<PathBuf>,
    /// How many files were as the journal has them.
    pub unchanged: u64,
    /// Files that somebody has changed; they are as they were.
    pub edited: Vec<PathBuf>,
    /// Where the content of changed files is kept that had to make way.
    pub kept: Vec<PathBuf>,
    /// Files whose project is not there any more.
    pub gone: Vec<PathBuf>,
    /// What could not be written.
    pub problems: Vec<Problem>,
}

/// A file that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its path.
    pub file: PathBuf,
    /// Why not.
    pub error: String,
}

/// What a file is to what the journal says of it.
enum Standing {
    Fits,
    /// Not there, or an older document of ours.
    Behind,
    Edited,
}

/// A file, and the events of the documents that were written to it, oldest first.
struct Known {
    place: Place,
    documents: Vec<u64>,
}

/// Writes the files of documents anew that are not as the journal has them. What a person has changed stays, unless
/// forced. A project that is not there any more is not made again.
///
/// # Errors
///
/// When the journal cannot be read. A file that cannot be written is one of the problems.
pub fn rebuild(journal: &Journal, home: &Home, order: Rebuild<'_>) -> Result<Rebuilt, Error> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    journal.settle()?;
    let mut done = Rebuilt::default();
    // The shared file of a place leads to the newest document there, whichever session's that is.
    let mut latest: HashMap<PathBuf, (u64, PathBuf)> = HashMap::new();
    let mut places: Vec<Place> = Vec::new();
    for entry in journal
        .sessions()
        .into_iter()
        .filter(|entry| entry.stream.agent != Agent::Daemon)
    {
        if session_state::load(journal, &entry.stream)?
            .progress
            .is_none()
        {
            continue;
        }
        let is_session = order.session.is_none_or(|session| *session == entry.stream);
        for (path, Known { place, documents }) in known(journal, home, entry.stream.session)? {
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
            if !place.is_there(&home.progress) {
                done.gone.push(path);
                continue;
            }
            let text = progress::render(&document);
            let standing = standing(journal, &path, &text, &documents)?;
            if let Err(error) = done.bring(&place, &path, &text, standing, order.force) {
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
        let link = place.latest();
        let Some((_, path)) = latest.get(&link).filter(|(_, path)| path.exists()) else {
            continue;
        };
        if fs::canonicalize(&link)
            .is_ok_and(|to| fs::canonicalize(path).is_ok_and(|path| to == path))
        {
            continue;
        }
        match place.point_to(path) {
            Ok(None) => done.rebuilt.push(link),
            // A file of somebody's own is in its place, and stays.
            Ok(Some(_)) => {}
            Err(error) => done.problems.push(Problem {
                file: link,
                error: error.to_string(),
            }),
        }
    }
    done.rebuilt.sort();
    Ok(done)
}

impl Rebuilt {
    fn bring(
        &mut self,
        place: &Place,
        path: &Path,
        text: &str,
        standing: Standing,
        force: bool,
    ) -> io::Result<()> {
        match standing {
            Standing::Fits => self.unchanged += 1,
            Standing::Edited if !force => self.edited.push(path.to_owned()),
            Standing::Behind | Standing::Edited => {
                place.prepare()?;
                if matches!(standing, Standing::Edited) {
                    self.kept.push(put_aside(path)?);
                }
                place.write(path, text, false)?;
                self.rebuilt.push(path.to_owned());
            }
        }
        Ok(())
    }
}

/// Returns the files that a session's documents were written to, where they belong today.
fn known(journal: &Journal, home: &Home, session: Uuid) -> Result<BTreeMap<PathBuf, Known>, Error> {
    let mut known: BTreeMap<PathBuf, Known> = BTreeMap::new();
    for envelope in journal.stream(session, 0, usize::MAX)? {
        if !matches!(envelope.event, Event::ProgressWritten { .. }) {
            continue;
        }
        let Some((file, document)) = read(&envelope) else {
            continue;
        };
        let place = Place::of_file(Path::new(&file), session, &document.project, &home.progress);
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

fn document(journal: &Journal, seq: u64) -> Result<Option<Document>, Error> {
    Ok(journal
        .event(seq)?
        .as_ref()
        .and_then(read)
        .map(|(_, document)| document))
}

fn standing(
    journal: &Journal,
    path: &Path,
    text: &str,
    documents: &[u64],
) -> Result<Standing, Error> {
    let meta = fs::symlink_metadata(path);
    let is = match fs::read(path) {
        _ if matches!(&meta, Err(error) if error.kind() == ErrorKind::NotFound) => {
            return Ok(Standing::Behind);
        }
        Ok(is) if meta.is_ok_and(|meta| meta.is_file()) => is,
        _ => return Ok(Standing::Edited),
    };
    if is == text.as_bytes() {
        return Ok(Standing::Fits);
    }
    // A crash between the journal and the file leaves the document before, whole.
    for seq in documents.iter().rev().skip(1) {
        if document(journal, *seq)?.is_some_and(|older| progress::render(&older).as_bytes() == is) {
            return Ok(Standing::Behind);
        }
    }
    Ok(Standing::Edited)
}

fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = |count: u32| {
        if count == 1 {
            "kept".to_owned()
        } else {
            format!("kept{count}")
        }
    };
    let mut names = (1..).map(|count| path.with_added_extension(name(count)));
    let aside = names
        .find(|aside| fs::symlink_metadata(aside).is_err())
        .expect("not all names are taken");
    fs::rename(path, &aside)?;
    Ok(aside)
}
