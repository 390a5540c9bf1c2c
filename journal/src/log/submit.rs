//! How appends get to the committer.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{TrySendError, sync_channel};

use super::append::{Ack, Append, Appending, Command, Done, Imported};
use super::{Journal, QUEUE_MAX};
use crate::Draft;
use crate::error::{Error, Result};

impl Journal {
    /// Appends drafts in order, each on its own, and wakes the committer once. Errors that [`Journal::append`] would
    /// return go to `done` too. Never blocks.
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

    /// Commits appends, or hands them over to the committer's thread, all or none.
    fn hand_over(&self, appends: Vec<Append>) -> std::result::Result<(), (Vec<Append>, Error)> {
        let Err(appends) = self.commit_here(appends) else {
            return Ok(());
        };
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
            Command::Rotate(_) | Command::Look | Command::Stop => Err((Vec::new(), error)),
        }
    }

    /// Commits appends on this thread, unless that would wait for something: waking another thread and being woken by it
    /// costs several times what the write does. Gives back the appends otherwise.
    fn commit_here(&self, appends: Vec<Append>) -> std::result::Result<(), Vec<Append>> {
        let Ok(mut committer) = self.inner.committer.try_lock() else {
            return Err(appends);
        };
        // What is in the queue comes first. What this thread has put there counts until it is committed.
        let is_first = self.inner.shared.queued.load(Ordering::Acquire) == 0;
        let must_look = match &mut *committer {
            Some(committer) if is_first && committer.is_free(&appends) => {
                committer.commit_free(appends)
            }
            _ => return Err(appends),
        };
        drop(committer);
        if must_look {
            // If the queue is full, the thread is awake.
            let _ = self.inner.queue.try_send(Command::Look);
        }
        Ok(())
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
