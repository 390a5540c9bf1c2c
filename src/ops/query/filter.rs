//! Selects the sessions that a question is about.

use std::collections::HashMap;
use std::path::Path;

use actors::session_state;
use journal::{Agent, Envelope, Host, Journal, Stream};
use uuid::Uuid;

use super::question::Result;
use super::sessions::find_session_on;

/// The sessions that a question is about, by session, agent and project.
pub(super) struct Whose<'a> {
    journal: &'a Journal,
    session: Option<Uuid>,
    agent: Option<Agent>,
    project: Option<&'a str>,
    machine: Option<&'a str>,
    /// The projects of the selected sessions.
    projects: HashMap<Uuid, Project>,
}

/// The last known project of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Project {
    /// Its folder; empty if it is not known.
    pub(super) path: String,
    /// The repository that it is a clone of.
    pub(super) remote: Option<String>,
}

impl Project {
    /// Returns whether it is in a folder or below it, or a clone of a repository.
    fn is_in(&self, wanted: &str) -> bool {
        Path::new(&self.path).starts_with(wanted) || self.remote.as_deref() == Some(wanted)
    }

    /// Returns what tells it from others. On several machines, equal folders are different projects, and clones of one
    /// repository are one.
    pub(super) fn name(&self, machine: Option<&str>) -> String {
        match (machine, &self.remote) {
            (None, _) => self.path.clone(),
            (Some(_), Some(remote)) => remote.clone(),
            (Some(machine), None) => format!("{machine}:{}", self.path),
        }
    }
}

impl<'a> Whose<'a> {
    /// Creates the filter from the question.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub(super) fn new(
        journal: &'a Journal,
        session: Option<&str>,
        agent: Option<Agent>,
        project: Option<&'a str>,
        machine: Option<&'a str>,
    ) -> Result<Self> {
        let session = session
            .map(|session| find_session_on(journal, session, machine))
            .transpose()?;
        let session = session.map(|entry| entry.stream.session);
        Ok(Self {
            journal,
            session,
            agent,
            project,
            machine,
            projects: HashMap::new(),
        })
    }

    /// Returns whether an event is selected.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn fits(&mut self, envelope: &Envelope) -> Result<bool> {
        let stream = &envelope.stream;
        let origin = envelope.origin.as_deref();
        let is_of = |wanted| origin.is_some_and(|origin| origin.machine == wanted);
        let fits = self.machine.is_none_or(is_of)
            && self.session.is_none_or(|session| session == stream.session)
            && self.agent.is_none_or(|agent| agent == stream.agent);
        Ok(match self.project {
            Some(wanted) if fits => self.project(stream)?.is_in(wanted),
            _ => fits,
        })
    }

    /// Returns the last known project of a session.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn project(&mut self, stream: &Stream) -> Result<&Project> {
        if !self.projects.contains_key(&stream.session) {
            let state = session_state::load(self.journal, stream)?;
            let project = Project {
                path: state.project().to_owned(),
                remote: state.remote,
            };
            self.projects.insert(stream.session, project);
        }
        Ok(&self.projects[&stream.session])
    }
}

/// Imported sessions, and those of a collector that their machines read from transcripts.
#[derive(Default)]
pub(super) struct PastSessions(HashMap<Uuid, bool>);

impl PastSessions {
    /// Returns whether a decision was made about the past.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn has(&mut self, journal: &Journal, decided: &Envelope) -> Result<bool> {
        if decided.origin.is_none() {
            return Ok(journal.is_imported(decided.seq));
        }
        let session = decided.stream.session;
        if let Some(is_past) = self.0.get(&session) {
            return Ok(*is_past);
        }
        let entry = journal.session(session);
        let first = entry.map(|entry| journal.event(entry.first_seq));
        let first = first.transpose()?.flatten();
        let is_past = first.is_some_and(|first| {
            let host = first.event.host();
            host.is_some_and(|host| host.hook == Host::FROM_TRANSCRIPT)
        });
        self.0.insert(session, is_past);
        Ok(is_past)
    }
}
