//! Where runs take place: a journal, with its threads, in files.

use std::cell::RefCell;
use std::path::Path;

use checkpoint::replay::Replayer;
use journal::{Home, Journal, Options};

use crate::rules::Broken;

/// A journal in a folder of its own, in memory where the machine has such folders. Many runs share it, one after the
/// other, each with sessions of its own.
pub(crate) struct Place {
    pub(crate) journal: Journal,
    pub(crate) home: Home,
    folder: tempfile::TempDir,
    /// Decides again what was decided; it knows the policies that are journaled.
    pub(crate) replayer: RefCell<Replayer>,
}

impl Place {
    /// Makes one.
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder");
        let home = Home::under(folder.path());
        let (journal, _) = Journal::open(&home.journal, Options::default()).expect("a new journal opens");
        std::fs::create_dir_all(&home.spool).expect("a folder");
        Self { journal, home, folder, replayer: RefCell::default() }
    }

    /// Closes the journal and opens it again: all that was there is there.
    pub(crate) fn check_after_reopening(self) -> Result<(), Broken> {
        let read = |journal: &Journal| journal.events_from(1).collect::<Result<Vec<_>, _>>();
        let before = read(&self.journal).map_err(|error| error.to_string())?;
        self.journal.close();
        drop(self.journal);
        let (journal, _) = Journal::open(&self.home.journal, Options::default()).map_err(|error| error.to_string())?;
        let after = read(&journal).map_err(|error| error.to_string())?;
        journal.close();
        drop(self.folder);
        if before == after { Ok(()) } else { Err("the journal is another one after it was opened again".into()) }
    }
}
