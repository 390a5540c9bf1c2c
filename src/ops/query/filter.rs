//! Which sessions a question is about.

use std::collections::HashMap;
use std::path::Path;

use actors::session_state;
use journal::{Agent, Journal, Stream};
use uuid::Uuid;

use super::question::Result;
use super::sessions::find_session;

/// The sessions that a question is about, by session, agent and project.
pub(super) struct Whose<'a> {
    journal: &'a Journal,
    session: Option<Uuid>,
    agent: Option<Agent>,
    project: Option<&'a str>,
    /// The projects of the sessions that were asked for.
    projects: HashMap<Uuid, String>,
}

impl<'a> Whose<'a> {
    /// Begins with what was asked for.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub(super) fn new(
        journal: &'a Journal,
        session: Option<&str>,
        agent: Option<Agent>,
        project: Option<&'a str>,
    ) -> Result<Self> {
        let session = session
            .map(|session| find_session(journal, session))
            .transpose()?;
        let session = session.map(|entry| entry.stream.session);
        Ok(Self {
            journal,
            session,
            agent,
            project,
            projects: HashMap::new(),
        })
    }

    /// Tells whether a session is one of them.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn fits(&mut self, stream: &Stream) -> Result<bool> {
        let fits = self.session.is_none_or(|session| session == stream.session)
            && self.agent.is_none_or(|agent| agent == stream.agent);
        Ok(match self.project {
            Some(wanted) if fits => Path::new(self.project(stream)?).starts_with(wanted),
            _ => fits,
        })
    }

    /// Returns the project that a session was last heard to work in; empty where none is known.
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
