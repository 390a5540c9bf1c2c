//! Selects the sessions that a question is about.

use std::collections::HashMap;
use std::path::Path;

use actors::session_state;
use journal::{Agent, Envelope, Journal, Stream};
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
    projects: HashMap<Uuid, String>,
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
            Some(wanted) if fits => Path::new(self.project(stream)?).starts_with(wanted),
            _ => fits,
        })
    }

    /// Returns the last known project of a session, or an empty string.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn project(&mut self, stream: &Stream) -> Result<&str> {
        if !self.projects.contains_key(&stream.session) {
            let project = session_state::load(self.journal, stream)?
                .project()
                .to_owned();
            self.projects.insert(stream.session, project);
        }
        Ok(&self.projects[&stream.session])
    }
}
