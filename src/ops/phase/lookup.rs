//! Finds the project and the session that a request names.

pub(crate) use actors::progress::project_root as project;

use actors::session_state;
use journal::{Journal, SessionEntry};

use crate::ops::query;

/// The newest sessions that are searched for one of a project.
const SESSIONS_MAX: usize = 50;

/// Returns the project of a session of the journal.
pub(crate) fn project_of(journal: &Journal, native: &str) -> Option<String> {
    let entry = journal
        .sessions()
        .into_iter()
        .find(|entry| is_host(entry) && entry.stream.native() == native)?;
    project_of_entry(journal, &entry)
}

/// Finds the session that a name means. A name that no session of the journal begins with is returned unchanged: the
/// caller may know sessions that the journal does not.
///
/// # Errors
///
/// A sentence, where the name could mean several, or is `last` and there is none.
pub(crate) fn session(journal: &Journal, name: &str) -> query::Result<String> {
    let begins = |entry: &SessionEntry| {
        is_host(entry)
            && [entry.stream.native(), entry.stream.session.to_string()]
                .iter()
                .any(|known| known.starts_with(name))
    };
    if name != "last" && !journal.sessions().iter().any(begins) {
        return Ok(name.to_owned());
    }
    Ok(query::find_session(journal, name)?.stream.native())
}

/// Returns the session of a project with the newest event.
pub(crate) fn newest_session(journal: &Journal, project: &str) -> Option<String> {
    let mut entries = journal.sessions();
    entries.retain(is_host);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seq));
    let of_project =
        |entry: &&SessionEntry| project_of_entry(journal, entry).as_deref() == Some(project);
    entries
        .iter()
        .take(SESSIONS_MAX)
        .find(of_project)
        .map(|entry| entry.stream.native())
}

fn is_host(entry: &SessionEntry) -> bool {
    entry.stream.agent.is_agent()
}

fn project_of_entry(journal: &Journal, entry: &SessionEntry) -> Option<String> {
    let state = session_state::load(journal, &entry.stream).ok()?;
    let folder = state.project();
    (!folder.is_empty()).then(|| project(folder))
}
