//! The writer: orders appends, makes them durable in groups, and hands them on to the store's thread.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::store_writer::{Move, Shared, bytes_of};
use super::{Append, Appended, Command, Done, GROUP_MAX, Imported, Options, Sync};
use crate::error::{Error, Result};
use crate::frame::{self, Kind};
use crate::intake::{self, SEGMENT_BYTES, Unsealed, Writer};
use crate::store::Item;
use crate::{Draft, Envelope, Timestamp, codec};

/// Pause between two attempts to write a segment anew whose sync failed.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// The thread that orders events and makes them durable.
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Options,
    pub(super) writer: Writer,
    pub(super) next_seq: u64,
    pub(super) last_at: HashMap<Uuid, Timestamp>,
    pub(super) to_store: SyncSender<Move>,
    /// Since when acknowledged events are unsynced.
    pub(super) dirty: Option<Instant>,
    pub(super) to_sync: SyncSender<(Arc<Unsealed>, PathBuf)>,
    /// When it was last tried to renew the segment.
    pub(super) tried: Option<Instant>,
}

/// An append whose answer is known but not given yet.
struct Answer {
    done: Done,
    appended: Vec<Appended>,
    wants_sync: bool,
}

impl Committer {
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        let mut group = Vec::new();
        loop {
            let sync = self
                .dirty
                .map(|since| self.options.batch_window.saturating_sub(since.elapsed()));
            let renew = self.writer.has_failed().then(|| self.renew_in());
            let first = match renew.or(sync) {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => commands.recv_timeout(wait),
            };
            let (mut stop, mut rotate) = (false, None);
            match first {
                Ok(Command::Append(append)) => group.push(append),
                Ok(Command::Rotate(done)) => rotate = Some(done),
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => stop = true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            while !stop && rotate.is_none() && !group.is_empty() && group.len() < GROUP_MAX {
                match commands.try_recv() {
                    Ok(Command::Append(append)) => group.push(append),
                    Ok(Command::Rotate(done)) => rotate = Some(done),
                    Ok(Command::Stop) => stop = true,
                    Err(_) => break,
                }
            }
            if !group.is_empty() {
                self.commit(std::mem::take(&mut group));
            }
            if let Some(done) = rotate {
                self.rotate_and_seal_all(done);
            }
            let window_over = self
                .dirty
                .is_some_and(|since| since.elapsed() >= self.options.batch_window);
            if stop {
                // Whoever waited for the disk was answered; of the rest a failure loses nothing that was promised.
                let _ = if self.writer.has_failed() {
                    self.writer.renew()
                } else {
                    self.writer.sync()
                };
                return;
            }
            // The other thread does it, so that nobody waits for a disk that he does not need. While it is still at
            // the last one, the next window brings this one.
            if window_over {
                let file = (self.writer.file(), self.writer.path().to_owned());
                self.dirty = self.to_sync.try_send(file).is_err().then(Instant::now);
            }
            // Also when nothing is appended: acknowledged events may be in it.
            if self.writer.has_failed() {
                let _ = self.renewed();
            }
        }
    }

    /// Writes, syncs where an event wants it, answers, and hands over to the store.
    fn commit(&mut self, group: Vec<Append>) {
        let (before_length, before_seq) = (self.writer.len(), self.next_seq);
        let (mut frames, mut items, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        let recorded_at = Timestamp::now();
        let mut fresh: HashMap<Uuid, u64> = HashMap::new();
        for append in group {
            match self.order(append, recorded_at, &mut fresh, &mut frames, &mut items) {
                Ok(answer) => answers.push(answer),
                Err((done, error)) => done(Err(error)),
            }
        }
        let sync = answers.iter().any(|answer| answer.wants_sync);
        let written = self
            .renewed()
            .and_then(|()| match (items.is_empty(), sync) {
                // A duplicate of an event that is written but not synced yet is acknowledged only once it is.
                (true, true) => self.writer.sync(),
                (true, false) => Ok(()),
                (false, true) => self
                    .writer
                    .append(&frames)
                    .and_then(|()| self.writer.sync()),
                (false, false) => self.writer.append(&frames),
            });
        if !(written.is_ok() && items.is_empty() && !sync) {
            self.note(written.as_ref().err());
        }
        if let Err(error) = written {
            if !items.is_empty() {
                self.writer.take_back(before_length);
                self.next_seq = before_seq;
            }
            answers
                .into_iter()
                .for_each(|answer| (answer.done)(Err(error.clone())));
            return;
        }
        self.dirty = if sync {
            None
        } else {
            self.dirty
                .or_else(|| (!items.is_empty()).then(Instant::now))
        };
        self.announce(fresh);
        answers
            .into_iter()
            .for_each(|answer| (answer.done)(Ok(answer.appended)));
        // Last: the callers need not wait until the store takes more.
        self.hand_over(items);
    }

    /// Makes sure that the segment can be trusted, renewing it after a failure; not more often than [`RENEW_EVERY`].
    fn renewed(&mut self) -> Result<()> {
        if !self.writer.has_failed() {
            return Ok(());
        }
        if !self.renew_in().is_zero() {
            let trouble = self
                .shared
                .trouble
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            return Err(trouble.unwrap_or(Error::Overloaded));
        }
        self.tried = Some(Instant::now());
        let renewed = self.writer.renew();
        self.note(renewed.as_ref().err());
        match &renewed {
            Ok(()) => tracing::warn!("The intake segment was written anew after a failed sync."),
            Err(error) => {
                tracing::error!(%error, "The intake segment could not be written anew; it is tried again.")
            }
        }
        renewed
    }

    /// Keeps for `status` whether the log takes events.
    fn note(&self, error: Option<&Error>) {
        *self
            .shared
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = error.cloned();
    }

    /// How long the next attempt to renew the segment has to wait.
    fn renew_in(&self) -> Duration {
        self.tried.map_or(Duration::ZERO, |tried| {
            RENEW_EVERY.saturating_sub(tried.elapsed())
        })
    }

    /// Gives every draft its place and its bytes.
    fn order(
        &mut self,
        append: Append,
        now: Timestamp,
        fresh: &mut HashMap<Uuid, u64>,
        frames: &mut Vec<u8>,
        items: &mut Vec<Item>,
    ) -> std::result::Result<Answer, (Done, Error)> {
        let Append {
            drafts,
            imported,
            durable,
            done,
        } = append;
        let mut appended = Vec::with_capacity(drafts.len());
        let mut wants_sync = durable;
        for draft in drafts {
            wants_sync |= self.options.sync == Sync::Always || !draft.event.may_be_batched();
            match fresh
                .get(&draft.id)
                .copied()
                .map_or_else(|| self.known(draft.id), |seq| Ok(Some(seq)))
            {
                Ok(Some(seq)) => appended.push(Appended {
                    seq,
                    duplicate: true,
                }),
                Ok(None) => {
                    let seq = self.next_seq;
                    self.next_seq += 1;
                    fresh.insert(draft.id, seq);
                    let item = self.item(draft, seq, now, imported.as_ref());
                    frame::push(
                        frames,
                        Kind::Envelope,
                        &codec::join(&item.event, &item.payload),
                    );
                    items.push(item);
                    appended.push(Appended {
                        seq,
                        duplicate: false,
                    });
                }
                Err(error) => return Err((done, error)),
            }
        }
        Ok(Answer {
            done,
            appended,
            wants_sync,
        })
    }

    fn item(
        &mut self,
        draft: Draft,
        seq: u64,
        now: Timestamp,
        imported: Option<&Imported>,
    ) -> Item {
        let Draft {
            stream,
            at,
            id,
            event,
            payload,
        } = draft;
        let mut is_late = false;
        if event.host().is_some() {
            let last = self.last_at.entry(stream.session).or_insert(at);
            is_late = at < *last;
            *last = at.max(*last);
        }
        let (recorded_at, late) =
            imported.map_or((now, is_late), |own| (own.recorded_at, own.late));
        let envelope = Envelope {
            seq,
            stream,
            at,
            recorded_at,
            id,
            late,
            event,
        };
        let is_dropped = imported.is_some_and(|own| own.payload_dropped);
        let payload = if is_dropped {
            codec::DROPPED.to_vec()
        } else {
            codec::encode_payload(payload.as_deref())
        };
        Item {
            event: codec::encode_event(&envelope),
            payload,
            envelope,
        }
    }

    /// Returns the place of an event that is already there.
    fn known(&self, id: Uuid) -> Result<Option<u64>> {
        let in_flight = self
            .shared
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .copied();
        if in_flight.is_some() {
            Ok(in_flight)
        } else {
            self.shared.store.seq_by_id(id)
        }
    }

    /// Makes known what is committed: from here on it is no news when it comes again, and readers wait for it.
    fn announce(&self, fresh: HashMap<Uuid, u64>) {
        self.shared
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(fresh);
        self.shared
            .committed
            .store(self.next_seq - 1, Ordering::Release);
    }

    fn hand_over(&mut self, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        self.shared.wait_for_room();
        self.shared
            .waiting_bytes
            .fetch_add(bytes_of(&items), Ordering::AcqRel);
        // The store's thread only ends after this one, and reports its failures through `settle`.
        let _ = self.to_store.send(Move::Items(items));
        if self.writer.len() >= SEGMENT_BYTES {
            self.rotate();
        }
    }

    /// Begins a new segment, and has all before it sealed, also those whose sealing a crash cut short.
    fn rotate_and_seal_all(&mut self, done: Box<dyn FnOnce() + Send>) {
        if self.writer.len() > 0 {
            self.rotate();
        }
        for segment in intake::segments(self.writer.dir()).unwrap_or_default() {
            if !segment.sealed && segment.path != self.writer.path() {
                let _ = self.to_store.send(Move::Seal(segment.path));
            }
        }
        let _ = self.to_store.send(Move::Tell(done));
    }

    /// Begins a new segment. Where that fails, the old one grows on.
    fn rotate(&mut self) {
        if self.writer.sync().is_err() {
            return;
        }
        match Writer::create(self.writer.dir(), self.next_seq) {
            Ok(writer) => {
                let full = std::mem::replace(&mut self.writer, writer);
                self.dirty = None;
                let _ = self.to_store.send(Move::Seal(full.path().to_owned()));
            }
            Err(error) => tracing::warn!(%error, "Could not begin a new intake segment."),
        }
    }
}

/// The thread that syncs what was acknowledged once written.
pub(super) fn sync_batches(files: &Receiver<(Arc<Unsealed>, PathBuf)>) {
    for (file, path) in files {
        if let Err(error) = file.sync(&path) {
            tracing::error!(%error, "Tool events are acknowledged but could not be synced; a power cut may lose them.");
        }
    }
}
