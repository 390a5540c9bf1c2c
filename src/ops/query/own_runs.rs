//! What a person ran with `checkpointd run`, which counts for what sessions left (spec EVID-22).

use std::path::{Path, PathBuf};

use checkpoint::follow_up::OwnRun;
use journal::Journal;

use super::question::Result;

/// The own runs of a journal.
pub(super) struct OwnRuns {
    runs: Vec<OwnRun>,
    /// There are later ones.
    pub(super) go_on: bool,
}

impl OwnRuns {
    /// Reads those up to an event.
    pub(super) fn read(journal: &Journal, until: u64) -> Result<Self> {
        let mut all = Self {
            runs: Vec::new(),
            go_on: false,
        };
        let streams = journal.sessions().into_iter();
        let streams = streams.filter(|entry| entry.stream.agent == journal::Agent::person());
        for entry in streams {
            let mut events = journal.stream(entry.stream.session, 0, usize::MAX)?;
            events.retain(|envelope| envelope.seq <= until);
            all.runs.extend(OwnRun::all(&events));
            all.go_on |= entry.last_seq > until;
        }
        Ok(all)
    }

    /// Returns those in the work tree of a folder.
    pub(super) fn of(&self, folder: &Path) -> Vec<&OwnRun> {
        let is_of = |run: &&OwnRun| folder.starts_with(&run.examined.top);
        self.runs.iter().filter(is_of).collect()
    }
}

/// Returns a session's folder as git names it, without links.
pub(super) fn folder(project: &str) -> PathBuf {
    let named = Path::new(project);
    named.canonicalize().unwrap_or_else(|_| named.to_owned())
}
