//! Writing a document: it is journaled, then its file is rendered from it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use checkpoint::config::{Config, ProgressPlace};
use checkpoint::phase::Scope;
use checkpoint::progress::{
    self, DOCUMENT_VERSION, Document, Facts, GitState, Judgments, OpenPhase, OtherFile, Parent,
    Stated,
};
use checkpoint::state::SessionState;
use journal::{
    ChangedFile, Draft, Envelope, Event, Home, Journal, ProgressKind, Stream, Timestamp,
};
use uuid::Uuid;

use super::documents::{Error, TURN, document, project_root, read};
use super::files::Place;
use super::project::{ProjectState, READ_WITHIN, read_project};
use crate::{bounded_io, git, phase, session_state};

/// A request for a document.
#[derive(Clone, Debug)]
pub struct Order {
    /// The session that the document is about.
    pub stream: Stream,
    /// The document's type.
    pub kind: ProgressKind,
    /// Reason word.
    pub cause: String,
    /// The agent's own statements.
    pub stated: Judgments,
    /// Where the file is written.
    pub place: ProgressPlace,
    /// The event's id: a second request with the same id writes no second document.
    pub id: Uuid,
}

/// A document that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Sequence number of its event.
    pub seq: u64,
    /// The document as journaled.
    pub document: Document,
    /// Path of its file.
    pub file: PathBuf,
    /// Notes for the user, such as why the file could not be written.
    pub notes: Vec<String>,
}

/// Journals a document, then writes its file. If the file cannot be written, a note says why; the document is in the
/// journal all the same.
///
/// # Errors
///
/// When the session has no project, or the journal cannot be used.
pub fn write(
    journal: &Journal,
    home: &Home,
    config: &Config,
    order: Order,
) -> Result<Written, Error> {
    // Before the turn is taken: other projects' documents wait for it.
    refuse_silent(journal, &order.stream)?;
    let _turn = TURN.lock();
    journal.settle()?;
    let mut document = redacted(config, assemble(journal, config, &order)?);
    let mut notes = Vec::new();
    if document.kind != order.kind {
        notes.push(format!(
            "there is no full document of this session yet, so this is one, not {}",
            order.kind.word()
        ));
    }
    let session = order.stream.session;
    let data = Place::in_data(&home.progress, &document.project);
    let mut place = match order.place {
        ProgressPlace::Project if !is_imported(journal, session)? => {
            Place::in_project(&document.project, &config.settings.progress.path.0)
        }
        _ => data.clone(),
    };
    if let Err(error) = place.prepare() {
        notes.push(format!("not written into the project: {error}"));
        place = data;
        if let Err(error) = place.prepare() {
            notes.push(format!("not written: {error}"));
        }
    }
    let file = place.file(session, document.kind);
    let text = file.display().to_string();
    let event = Event::ProgressWritten {
        progress: document.kind,
        document: document.to_json(),
        file: text,
    };
    let draft = Draft {
        stream: order.stream,
        at: document.at,
        id: order.id,
        event,
        payload: None,
    };
    let appended = journal.append_wait(vec![draft])?;
    let seq = appended.first().map_or(0, |own| own.seq);
    if appended.first().is_some_and(|own| own.duplicate) {
        journal.settle()?;
        if let Some((_, known)) = journal.event(seq)?.as_ref().and_then(read) {
            document = known;
        }
    }
    match place.write(
        &file,
        &progress::render(&document),
        document.kind != ProgressKind::Incremental,
    ) {
        Ok(note) => notes.extend(note),
        Err(error) => notes.push(format!("{} cannot be written: {error}", file.display())),
    }
    Ok(Written {
        seq,
        document,
        file,
        notes,
    })
}

/// Refuses a session whose project does not answer.
fn refuse_silent(journal: &Journal, stream: &Stream) -> Result<(), Error> {
    let state = session_state::load(journal, stream)?;
    let project = state.project();
    if bounded_io::answers(project) {
        return Ok(());
    }
    let problem = "was not examined: its file system does not answer";
    Err(Error::Refused(format!("{project} {problem}")))
}

/// Returns a document without the secrets in what the agent, git and plans say (spec JRNL-20). Its project and the ids of its
/// session stay.
fn redacted(config: &Config, document: Document) -> Document {
    let raw = document.to_json();
    let clean = serde_json::from_str(&raw)
        .ok()
        .and_then(|mut value| config.redactor.payload(&mut value, &raw))
        .and_then(|text| Document::from_json(&text).ok());
    match clean {
        Some(clean) => Document {
            project: document.project,
            session: document.session,
            native_session: document.native_session,
            ..clean
        },
        None => document,
    }
}

/// Returns whether a session's project is only what imported events say (spec ENV-5).
fn is_imported(journal: &Journal, session: Uuid) -> Result<bool, Error> {
    let first = journal.stream(session, 0, 1)?;
    Ok(first
        .first()
        .is_some_and(|first| journal.is_imported(first.seq)))
}

/// Assembles a document from the journal, git, and the agent's statements.
fn assemble(journal: &Journal, config: &Config, order: &Order) -> Result<Document, Error> {
    let state = session_state::load(journal, &order.stream)?;
    if state.project().is_empty() {
        return Err(Error::Refused(
            "the session has no folder: no hook call named one".into(),
        ));
    }
    let project = project_root(state.project());
    let events = journal.stream(order.stream.session, 0, usize::MAX)?;
    let deadline = Instant::now() + READ_WITHIN;
    let ProjectState { git, lock_files } = read_project(config, &project, deadline);
    let mut facts = progress::facts(&events, &project);
    let paths = facts.files.iter().map(|file| file.path.as_str());
    let held = git::held(Path::new(&project), paths, deadline);
    for (file, ChangedFile { hash, .. }) in facts.files.iter_mut().zip(held) {
        let code = git
            .as_ref()
            .ok()
            .and_then(|git| git.uncommitted.iter().find(|(_, path)| *path == file.path));
        let is_new = code.map_or(file.written_first, |(code, _)| is_new(code));
        file.hash = hash;
        file.status = status(hash, is_new).to_owned();
    }
    let at = Timestamp::now();
    let mut stated = previous(journal, &state, &events)?;
    stated.lay(order.stated.clone(), at);
    let mut others = others(&facts, git.as_ref().ok(), &stated.now, &project, deadline);
    let full = state.progress.as_ref().and_then(|written| written.full);
    let builds_on = match full.filter(|_| order.kind == ProgressKind::Incremental) {
        Some(seq) => document(journal, seq)?.map(|document| (seq, document)),
        None => None,
    };
    if let Some((_, earlier)) = &builds_on {
        let same = |file: &OtherFile| {
            let mut known = earlier.others.iter();
            known.any(|known| (&known.path, known.hash) == (&file.path, file.hash))
        };
        others.iter_mut().for_each(|file| file.fresh = !same(file));
    }
    let parent = builds_on.map(|(seq, document)| parent(seq, document));
    let is_orphan = order.kind == ProgressKind::Incremental && parent.is_none();
    Ok(Document {
        version: DOCUMENT_VERSION,
        kind: if is_orphan {
            ProgressKind::Full
        } else {
            order.kind
        },
        cause: order.cause.clone(),
        at,
        session: order.stream.session.to_string(),
        native_session: order.stream.native(),
        agent: order.stream.agent.word().into(),
        open_phase: open_phase(
            journal,
            Scope {
                project: Some(project.clone()),
                session: Some(order.stream.native()),
            },
        )?,
        project,
        facts,
        others,
        git,
        lock_files,
        parent,
        stated,
    })
}

/// The most files of a document that no tool call is known to have changed (spec PROG-17).
const OTHERS_MAX: usize = 300;

/// Returns the uncommitted files, those committed since the session began, and those whose changes the agent states,
/// without those of the facts.
fn others(
    facts: &Facts,
    git: Option<&GitState>,
    stated: &Judgments,
    project: &str,
    deadline: Instant,
) -> Vec<OtherFile> {
    let top = Path::new(project);
    let began = facts.started_at;
    let mut files: Vec<OtherFile> = Vec::new();
    for (code, path) in git.iter().flat_map(|git| &git.uncommitted) {
        let touched = began.is_none_or(|began| git::was_touched(&top.join(path), began));
        files.push(OtherFile {
            before: !touched,
            ..other(path, if is_new(code) { "created" } else { "modified" })
        });
    }
    let committed = began.map(|began| git::committed(top, began, deadline));
    for (path, is_new) in committed.into_iter().flatten() {
        if !files.iter().any(|file| file.path == path) {
            files.push(OtherFile {
                committed: true,
                ..other(&path, if is_new { "created" } else { "modified" })
            });
        }
    }
    for note in stated.files.iter().flatten() {
        let path = note.path.strip_prefix(project).unwrap_or(&note.path);
        let path = path.trim_start_matches('/');
        let is_named = |known: &str| known == note.path || known.ends_with(&format!("/{path}"));
        let is_known = |known: &str| known == path || is_named(known);
        let own = facts.files.iter().map(|file| file.path.as_str());
        let mut known = own.chain(files.iter().map(|file| file.path.as_str()));
        if !path.is_empty() && !known.any(is_known) {
            files.push(other(path, "stated"));
        }
    }
    files.retain(|other| !facts.files.iter().any(|file| file.path == other.path));
    files.truncate(OTHERS_MAX);
    let paths = files.iter().map(|file| file.path.as_str());
    let held = git::held(top, paths, deadline);
    for (file, ChangedFile { hash, .. }) in files.iter_mut().zip(held) {
        file.hash = hash;
        if hash.is_none() && file.status != "stated" {
            file.status = "deleted".into();
        }
    }
    files
}

fn other(path: &str, status: &str) -> OtherFile {
    OtherFile {
        path: path.to_owned(),
        status: status.to_owned(),
        ..OtherFile::default()
    }
}

/// Returns whether git's letters say that a file is new.
fn is_new(code: &str) -> bool {
    code.starts_with(['?', 'A'])
}

const fn status(hash: Option<u64>, is_new: bool) -> &'static str {
    match (hash, is_new) {
        (None, _) => "deleted",
        (Some(_), true) => "created",
        (Some(_), false) => "modified",
    }
}

/// Returns the agent's earlier statements: from this session's last document, or from the one offered at its start.
fn previous(journal: &Journal, state: &SessionState, events: &[Envelope]) -> Result<Stated, Error> {
    let offered = || {
        events
            .iter()
            .rev()
            .find_map(|envelope| match envelope.event {
                Event::ResumeOffered { document, .. } => document,
                _ => None,
            })
    };
    let Some(seq) = state
        .progress
        .as_ref()
        .map(|written| written.seq)
        .or_else(offered)
    else {
        return Ok(Stated::default());
    };
    let document = document(journal, seq)?;
    Ok(document.map(|document| document.stated).unwrap_or_default())
}

fn parent(seq: u64, document: Document) -> Parent {
    let decisions = document.stated.now.decisions.unwrap_or_default();
    Parent {
        seq,
        at: document.at,
        tools: document.facts.tools,
        failed: document.facts.failed,
        decisions: decisions.into_iter().map(|made| made.decision).collect(),
    }
}

pub(super) fn open_phase(journal: &Journal, scope: Scope) -> Result<Option<OpenPhase>, Error> {
    let phases = phase::load(journal)?;
    Ok(phases
        .latest_incomplete(&scope)
        .cloned()
        .map(|phase| OpenPhase {
            name: phase.checkpoint.phase,
            number: phase.checkpoint.number,
            checkpoint: phase.checkpoint.id,
            summary: phase.checkpoint.summary,
        }))
}
