//! Where runs take place: a journal, with its threads, in files.

use std::cell::RefCell;
use std::path::Path;
use std::time::UNIX_EPOCH;

use actors::spool;
use checkpoint::replay::Replayer;
use journal::frame::{self, Kind};
use journal::request::Head;
use journal::{Agent, Home, Journal, Options, Timestamp};
use uuid::Uuid;

use crate::rules::Broken;

/// A journal in a folder of its own, in memory where the machine has such folders. Many runs share it, one after the
/// other, each with sessions of its own.
pub(crate) struct Place {
    pub(crate) journal: Journal,
    pub(crate) home: Home,
    folder: tempfile::TempDir,
    /// Repeats decisions; it knows the journaled policies.
    pub(crate) replayer: RefCell<Replayer>,
}

impl Place {
    /// Makes one.
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.expect("a folder");
        let home = Home::under(folder.path());
        let (journal, _) =
            Journal::open(&home.journal, Options::default()).expect("a new journal opens");
        std::fs::create_dir_all(&home.spool).expect("a folder");
        Self {
            journal,
            home,
            folder,
            replayer: RefCell::default(),
        }
    }

    /// Keeps a hook call in the spool, as its client does. What is spooled again stays one file.
    pub(crate) fn spool(
        &self,
        agent: Agent,
        id: Uuid,
        at: Timestamp,
        env: &[(String, String)],
        payload: &str,
    ) {
        let env: Vec<_> = env
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let (id, since) = (id.to_string(), at.since(Timestamp::default()));
        let head = Head {
            agent: agent.word(),
            event: None,
            id: &id,
            at: UNIX_EPOCH + since,
            env: &env,
            truncated: false,
        };
        let mut request = head.to_bytes(payload.len());
        request.extend(payload.as_bytes());
        let mut bytes = Vec::new();
        frame::push(&mut bytes, Kind::Request, &request);
        let name = format!("{:020}-{id}.{}", at.as_micros(), spool::ENDING);
        std::fs::write(self.home.spool.join(name), bytes).expect("it is written");
    }

    /// Closes the journal and opens it again: all that was there is there.
    pub(crate) fn check_after_reopening(self) -> Result<(), Broken> {
        let read = |journal: &Journal| journal.events_from(1).collect::<Result<Vec<_>, _>>();
        let before = read(&self.journal).map_err(|error| error.to_string())?;
        self.journal.close();
        drop(self.journal);
        let (journal, _) = Journal::open(&self.home.journal, Options::default())
            .map_err(|error| error.to_string())?;
        let after = read(&journal).map_err(|error| error.to_string())?;
        journal.close();
        drop(self.folder);
        if before == after {
            Ok(())
        } else {
            Err("the journal is another one after it was opened again".into())
        }
    }
}
