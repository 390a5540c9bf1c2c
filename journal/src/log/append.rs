//! The input and the result of an append, and how the committer gets it.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::time::Duration;

use super::{Journal, QUEUE_MAX};
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

pub(super) enum Command {
    Append(Vec<Append>),
    Rotate(Box<dyn FnOnce() + Send>),
    Stop,
}

impl Journal {
    /// Appends drafts, each on its own and in order. The committer is woken only once. What [`Journal::append`] would return
    /// as an error, its `done` gets too. Never blocks.
    pub fn append_each(&self, appends: Vec<(Draft, Done)>) {
        let refused = self.refuse_collector().err();
        let appends = appends.into_iter().map(|(draft, done)| Append {
            drafts: vec![draft],
            imported: Vec::new(),
            ack: Ack::Usual,
            done,
        });
        let handed = match refused {
            None => self.hand_over(appends.collect()),
            Some(error) => Err((appends.collect(), error)),
        };
        if let Err((appends, error)) = handed {
            let refused = appends.into_iter();
            refused.for_each(|append| (append.done)(Err(error.clone())));
        }
    }

    pub(super) fn try_append(&self, drafts: Vec<Draft>, ack: Ack, done: Done) -> Result<()> {
        let append = Append {
            drafts,
            imported: Vec::new(),
            ack,
            done,
        };
        self.hand_over(vec![append]).map_err(|(_, error)| error)
    }

    /// Hands appends over to the committer, all or none.
    fn hand_over(&self, appends: Vec<Append>) -> std::result::Result<(), (Vec<Append>, Error)> {
        let (count, queued) = (appends.len(), &self.inner.shared.queued);
        if queued.fetch_add(count, Ordering::AcqRel) + count > QUEUE_MAX {
            queued.fetch_sub(count, Ordering::AcqRel);
            return Err((appends, Error::Overloaded));
        }
        let (command, error) = match self.inner.queue.try_send(Command::Append(appends)) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(command)) => (command, Error::Overloaded),
            Err(TrySendError::Disconnected(command)) => (command, Error::Closed),
        };
        queued.fetch_sub(count, Ordering::AcqRel);
        match command {
            Command::Append(appends) => Err((appends, error)),
            Command::Rotate(_) | Command::Stop => Err((Vec::new(), error)),
        }
    }

    pub(super) fn submit(&self, drafts: Vec<Draft>, imported: Vec<Imported>) -> Result<Appending> {
        let (sender, receiver) = sync_channel(1);
        let done: Done = Box::new(move |result| {
            let _ = sender.send(result);
        });
        let append = Append {
            drafts,
            imported,
            ack: Ack::Usual,
            done,
        };
        let queued = &self.inner.shared.queued;
        queued.fetch_add(1, Ordering::AcqRel);
        let sent = self.inner.queue.send(Command::Append(vec![append]));
        sent.map_err(|_| {
            queued.fetch_sub(1, Ordering::AcqRel);
            Error::Closed
        })?;
        Ok(Appending(receiver))
    }
}
