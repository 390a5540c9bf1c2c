//! What a person ran with `checkpointd run`, which counts for what sessions left (spec EVID-22).

use std::path::{Path, PathBuf};

use checkpoint::follow_up::OwnRun;
use journal::Journal;

use super::question::Result;

/// The own runs of a journal.
pub(super) struct OwnRuns(Vec<OwnRun>);

impl OwnRuns {
    /// Reads those up to an event.
    pub(super) fn read(journal: &Journal, until: u64) -> Result<Self> {
        let mut all = Vec::new();
        let streams = journal.sessions().into_iter();
        let streams = streams.filter(|entry| entry.stream.agent == journal::Agent::person());
        for entry in streams {
            let mut events = journal.stream(entry.stream.session, 0, usize::MAX)?;
            events.retain(|envelope| envelope.seq <= until);
            all.extend(OwnRun::all(&events));
        }
        Ok(Self(all))
    }

    /// Returns those in the work tree of a folder.
    pub(super) fn of(&self, folder: &Path) -> Vec<&OwnRun> {
        let is_of = |run: &&OwnRun| folder.starts_with(&run.examined.top);
        self.0.iter().filter(is_of).collect()
    }
}

/// Returns a session's folder as git names it, without links.
pub(super) fn folder(project: &str) -> PathBuf {
    let named = Path::new(project);
    named.canonicalize().unwrap_or_else(|_| named.to_owned())
}
