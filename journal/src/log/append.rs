//! The input and the result of an append.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::{Draft, Origin, Timestamp};

/// When an append is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Tool and model events once written, all others once synced (spec JRNL-5).
    Mixed,
    /// All events once synced.
    Always,
}

/// Settings of a journal.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// When an append is acknowledged.
    pub sync: Sync,
    /// Maximum time that an acknowledged event stays unsynced with [`Sync::Mixed`].
    pub batch_window: Duration,
    /// A segment that is not small is sealed when nothing was appended for this long, so that an idle journal takes
    /// little space.
    pub rest: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync: Sync::Mixed,
            batch_window: Duration::from_millis(50),
            rest: Duration::from_secs(60),
        }
    }
}

/// The result of appending one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The event's sequence number.
    pub seq: u64,
    /// The journal already had an event with this id, and nothing was written.
    pub duplicate: bool,
}

/// Gets the result of an append.
pub type Done = Box<dyn FnOnce(Result<Vec<Appended>>) + Send>;

/// An append that is not acknowledged yet.
pub struct Appending(pub(super) Receiver<Result<Vec<Appended>>>);

impl Appending {
    /// Waits for its acknowledgment.
    ///
    /// # Errors
    ///
    /// As `Journal::append_wait`.
    pub fn wait(self) -> Result<Vec<Appended>> {
        self.0.recv().map_err(|_| Error::Closed)?
    }
}

/// Properties of an imported event that appending would set otherwise.
#[derive(Default)]
pub(super) struct Imported {
    pub(super) recorded_at: Timestamp,
    pub(super) late: bool,
    pub(super) payload_dropped: bool,
    pub(super) origin: Option<Box<Origin>>,
}

/// What an acknowledgment waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ack {
    /// For what the settings say about the events.
    Usual,
    /// The write.
    Written,
    /// A sync.
    Synced,
}

/// Drafts that are committed together.
pub(super) struct Append {
    pub(super) drafts: Vec<Draft>,
    /// One for each draft, or none.
    pub(super) imported: Vec<Imported>,
    pub(super) ack: Ack,
    pub(super) done: Done,
}

impl Append {
    /// Returns whether it is acknowledged only once it is synced.
    pub(super) fn waits_for_sync(&self, sync: Sync) -> bool {
        let must = |draft: &Draft| sync == Sync::Always || !draft.event.may_be_batched();
        match self.ack {
            Ack::Synced => true,
            Ack::Written => false,
            Ack::Usual => self.drafts.iter().any(must),
        }
    }
}

pub(super) enum Command {
    Append(Vec<Append>),
    /// Another thread has committed something, after which the committer's has something to do.
    Look,
    Rotate(Box<dyn FnOnce() + Send>),
    Stop,
}
