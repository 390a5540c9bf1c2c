//! Orders appends, makes them durable in groups, and queues them for the store. A thread does that for all appends that
//! wait in the queue; an append that blocks nothing is committed by the thread that makes it (submit.rs).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::append::{Ack, Append, Appended, Command, Done, Imported, Options};
use super::shared::Shared;
use super::store_writer::{StoreJob, bytes_of};
use crate::error::{Error, Result};
use crate::frame::{self, HEADER_BYTES, Kind};
use crate::intake::{self, Form, SEGMENT_BYTES, Unsealed, Writer};
use crate::store::{Bytes, Item};
use crate::{Draft, Envelope, Timestamp, codec};

/// Maximum number of appends in one commit.
const GROUP_MAX: usize = 512;
/// Pause between two attempts to rewrite a segment after a failed sync.
const RENEW_INTERVAL: Duration = Duration::from_secs(1);
/// Payloads that are committed by the thread that appends, in bytes; larger ones would delay what else it does.
const FREE_BYTES_MAX: usize = 64 * 1024;
/// A smaller segment is not sealed at rest.
const REST_BYTES: u64 = 512 * 1024;

/// A committer that several threads use, one at a time; `None` once the journal is closed.
pub(super) type Shareable = Mutex<Option<Committer>>;

/// Orders events and makes them durable.
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Options,
    pub(super) writer: Writer,
    pub(super) next_seq: u64,
    pub(super) last_at: HashMap<Uuid, Timestamp>,
    pub(super) to_store: Sender<StoreJob>,
    /// Since when acknowledged events are unsynced.
    pub(super) dirty: Option<Instant>,
    pub(super) to_sync: SyncSender<(Arc<Unsealed>, PathBuf)>,
    /// Something was appended since the journal was last at rest.
    pub(super) appended: bool,
    /// When the segment was last rewritten, or an attempt failed.
    pub(super) tried: Option<Instant>,
}

/// The acknowledgment of an append that is not committed yet.
struct Answer {
    done: Done,
    appended: Vec<Appended>,
    wants_sync: bool,
}

/// The frames of a group: its events, each with the end of its frame.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    events: Vec<(Envelope, usize)>,
}

impl Frames {
    /// Returns the events with their values, which share the memory of the group.
    fn into_items(self) -> Vec<Item> {
        let bytes = Bytes::from(self.bytes);
        let mut from = 0;
        let items = self.events.into_iter().map(|(envelope, end)| {
            let record = from + HEADER_BYTES;
            let (event, payload) = codec::split(&bytes[record..end]).expect("it was just written");
            let (event, payload) = (event.len(), payload.len());
            from = end;
            Item {
                event: bytes.subslice(end - payload - event, event),
                payload: bytes.subslice(end - payload, payload),
                envelope,
            }
        });
        items.collect()
    }
}

/// The thread that commits what waits in the queue, and does what is due with time.
pub(super) fn run(committer: &Shareable, commands: &Receiver<Command>) {
    let mut is_open = true;
    while is_open {
        let Some(due) = with(committer, |committer| committer.due_in()) else {
            break;
        };
        let first = match due {
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => commands.recv_timeout(wait),
        };
        is_open = with(committer, |committer| committer.turn(first, commands)).unwrap_or(false);
    }
    // With the committer the queues to the other threads end.
    drop(lock(committer).take());
}

/// Uses the committer, unless a panic left it in an unknown state.
fn with<R>(committer: &Shareable, act: impl FnOnce(&mut Committer) -> R) -> Option<R> {
    let mut committer = lock(committer);
    committer.as_mut().map(act)
}

fn lock(committer: &Shareable) -> MutexGuard<'_, Option<Committer>> {
    committer.lock().unwrap_or_else(|poisoned| {
        let mut committer = poisoned.into_inner();
        committer.take();
        committer
    })
}

impl Committer {
    /// Returns the time until something is to be done without a command: a sync, a rewrite, or rest.
    fn due_in(&self) -> Option<Duration> {
        let window = self.options.batch_window;
        let sync = (self.dirty).map(|since| window.saturating_sub(since.elapsed()));
        let renew = self.writer.has_failed().then(|| self.renew_in());
        let rest = self.appended.then_some(self.options.rest);
        renew.or(sync).or(rest)
    }

    /// Handles the first command, or that there is none in time, and those that wait behind it. Returns false at the end.
    fn turn(
        &mut self,
        first: std::result::Result<Command, RecvTimeoutError>,
        commands: &Receiver<Command>,
    ) -> bool {
        let mut group = Vec::new();
        let (mut stop, mut rotate) = (false, None);
        match first {
            Ok(Command::Append(appends)) => self.take(appends, &mut group),
            Ok(Command::Rotate(done)) => rotate = Some(done),
            Ok(Command::Look) => {}
            Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => stop = true,
            Err(RecvTimeoutError::Timeout) if self.is_resting() => self.rest(),
            Err(RecvTimeoutError::Timeout) => {}
        }
        while !stop && rotate.is_none() && !group.is_empty() && group.len() < GROUP_MAX {
            match commands.try_recv() {
                Ok(Command::Append(appends)) => self.take(appends, &mut group),
                Ok(Command::Rotate(done)) => rotate = Some(done),
                Ok(Command::Look) => {}
                Ok(Command::Stop) => stop = true,
                Err(_) => break,
            }
        }
        if !group.is_empty() {
            self.commit(group);
        }
        if self.is_full() {
            self.rotate();
        }
        if let Some(done) = rotate {
            self.rotate_and_seal_all(done);
        }
        if stop {
            // Appends that wait for a sync have been answered; the others were not promised to survive a power cut.
            let _ = if self.writer.has_failed() {
                self.writer.renew()
            } else {
                self.writer.sync()
            };
            return false;
        }
        self.sync_if_due();
        // Even without appends: the segment may hold acknowledged events.
        if self.writer.has_failed() {
            let _ = self.renewed();
        }
        true
    }

    /// Has the segment synced once the first unsynced event has waited long enough.
    fn sync_if_due(&mut self) {
        let mut since = self.dirty.iter();
        if since.any(|since| since.elapsed() >= self.options.batch_window) {
            // On the other thread, so that no append waits for a sync that it does not need. While that thread is busy,
            // the next window syncs this one.
            let file = (self.writer.file(), self.writer.path().to_owned());
            self.dirty = self.to_sync.try_send(file).is_err().then(Instant::now);
        }
    }

    /// Returns whether nothing is to be done but for rest.
    fn is_resting(&self) -> bool {
        self.dirty.is_none() && !self.writer.has_failed()
    }

    fn is_full(&self) -> bool {
        self.writer.len() >= SEGMENT_BYTES
    }

    /// Returns whether appends of some size can be committed without waiting for a disk, the store, or other appends.
    pub(super) fn is_free(&self, appends: &[Append]) -> bool {
        let drafts = || appends.iter().flat_map(|append| &append.drafts);
        let payloads = drafts().map(|draft| draft.payload.as_ref().map_or(0, String::len));
        // One whose caller asks for a sync next is left to the thread that does both.
        let waits =
            |append: &Append| append.ack != Ack::Usual || append.waits_for_sync(self.options.sync);
        self.shared.is_free()
            && !self.writer.has_failed()
            && !self.is_full()
            && payloads.sum::<usize>() <= FREE_BYTES_MAX
            && !appends.iter().any(waits)
    }

    /// Commits appends for which it is free. Returns whether its thread has to look at it.
    pub(super) fn commit_free(&mut self, appends: Vec<Append>) -> bool {
        let had_time = self.dirty.is_some();
        self.commit(appends);
        (!had_time && self.dirty.is_some()) || self.writer.has_failed() || self.is_full()
    }

    /// Adds appends to a group; others may wait in their place.
    fn take(&self, appends: Vec<Append>, group: &mut Vec<Append>) {
        let taken = appends.len();
        self.shared.queued.fetch_sub(taken, Ordering::AcqRel);
        group.extend(appends);
    }

    /// Writes a group, syncs it if an event requires that, acknowledges it, and queues it for the store.
    fn commit(&mut self, group: Vec<Append>) {
        let before_length = self.writer.len();
        let before_seq = self.next_seq;
        let mut frames = Frames::default();
        let mut answers = Vec::new();
        let recorded_at = Timestamp::now();
        let mut fresh: HashMap<Uuid, u64> = HashMap::new();
        for append in group {
            match self.order(append, recorded_at, &mut fresh, &mut frames) {
                Ok(answer) => answers.push(answer),
                Err((done, error)) => done(Err(error)),
            }
        }
        let sync = answers.iter().any(|answer| answer.wants_sync);
        let written = self.renewed().and_then(|()| {
            if !frames.events.is_empty() {
                self.writer.append(&frames.bytes)?;
            }
            // A duplicate of an event that is not synced yet is acknowledged only after the sync.
            if sync { self.writer.sync() } else { Ok(()) }
        });
        if !(written.is_ok() && frames.events.is_empty() && !sync) {
            self.set_failure(written.as_ref().err());
        }
        if let Err(error) = written {
            if !frames.events.is_empty() {
                self.writer.truncate(before_length);
                self.next_seq = before_seq;
            }
            let refuse = |answer: Answer| (answer.done)(Err(error.clone()));
            return answers.into_iter().for_each(refuse);
        }
        self.dirty = if sync {
            None
        } else {
            let is_new = !frames.events.is_empty();
            self.dirty.or_else(|| is_new.then(Instant::now))
        };
        if sync {
            self.set_synced();
        }
        self.publish(fresh);
        let accept = |answer: Answer| (answer.done)(Ok(answer.appended));
        answers.into_iter().for_each(accept);
        // Last, because it may wait for the store.
        self.queue_for_store(frames.into_items());
    }

    /// Remembers that all events so far are synced.
    fn set_synced(&self) {
        let last = self.next_seq - 1;
        self.shared.synced.store(last, Ordering::Release);
    }

    /// Rewrites the segment after a failed sync, at most once per [`RENEW_INTERVAL`].
    fn renewed(&mut self) -> Result<()> {
        if !self.writer.has_failed() {
            return Ok(());
        }
        if !self.renew_in().is_zero() {
            let failure = self.shared.log_failure.lock().clone();
            return Err(failure.unwrap_or(Error::Overloaded));
        }
        self.tried = Some(Instant::now());
        let renewed = self.writer.renew();
        self.set_failure(renewed.as_ref().err());
        match &renewed {
            Ok(()) => tracing::warn!("Rewrote the intake segment after a failed sync."),
            Err(error) => {
                tracing::error!(%error, "Could not rewrite the intake segment after a failed sync; trying again.")
            }
        }
        renewed
    }

    /// Records for `status` why the log refuses appends.
    fn set_failure(&self, error: Option<&Error>) {
        *self.shared.log_failure.lock() = error.cloned();
    }

    /// Returns the time until the next attempt to rewrite the segment.
    fn renew_in(&self) -> Duration {
        self.tried.map_or(Duration::ZERO, |tried| {
            RENEW_INTERVAL.saturating_sub(tried.elapsed())
        })
    }

    /// Assigns sequence numbers to drafts and encodes them; skips duplicates.
    fn order(
        &mut self,
        append: Append,
        now: Timestamp,
        fresh: &mut HashMap<Uuid, u64>,
        frames: &mut Frames,
    ) -> std::result::Result<Answer, (Done, Error)> {
        let wants_sync = append.waits_for_sync(self.options.sync);
        let Append {
            drafts,
            imported,
            done,
            ..
        } = append;
        let mut appended = Vec::with_capacity(drafts.len());
        let mut imported = imported.into_iter();
        for draft in drafts {
            let own = imported.next();
            let known = match fresh.get(&draft.id) {
                Some(seq) => Ok(Some(*seq)),
                None => self.known(draft.id),
            };
            match known {
                Ok(Some(seq)) => {
                    appended.push(Appended {
                        seq,
                        duplicate: true,
                    });
                    // What follows would get other numbers than it had.
                    if own.is_some() {
                        break;
                    }
                }
                Ok(None) => {
                    let seq = self.next_seq;
                    self.next_seq += 1;
                    fresh.insert(draft.id, seq);
                    self.encode(draft, seq, now, own, frames);
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

    /// Appends the frame of an event.
    fn encode(
        &mut self,
        draft: Draft,
        seq: u64,
        now: Timestamp,
        imported: Option<Imported>,
        frames: &mut Frames,
    ) {
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
        let is_dropped = imported.as_ref().is_some_and(|own| own.payload_dropped);
        let (recorded_at, late, origin) = imported.map_or((now, is_late, None), |own| {
            (own.recorded_at, own.late, own.origin)
        });
        let envelope = Envelope {
            seq,
            stream,
            at,
            recorded_at,
            id,
            late,
            event,
            origin,
        };
        let bytes = &mut frames.bytes;
        frame::push_with(bytes, Kind::Envelope, |out| {
            codec::write_record(out, &envelope, payload.as_deref(), is_dropped);
        });
        frames.events.push((envelope, bytes.len()));
    }

    /// Returns the sequence number of the event with an id, if the journal has one.
    fn known(&self, id: Uuid) -> Result<Option<u64>> {
        let in_flight = self.shared.in_flight.lock().get(&id).copied();
        if in_flight.is_some() {
            Ok(in_flight)
        } else {
            self.shared.store.seq_by_id(id)
        }
    }

    /// Publishes committed events: from here on, appending them again is a duplicate, and readers wait for them.
    fn publish(&self, fresh: HashMap<Uuid, u64>) {
        self.shared.in_flight.lock().extend(fresh);
        let committed = &self.shared.committed;
        committed.store(self.next_seq - 1, Ordering::Release);
    }

    fn queue_for_store(&mut self, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        self.appended = true;
        self.shared.wait_for_room();
        let waiting = &self.shared.waiting_bytes;
        waiting.fetch_add(bytes_of(&items), Ordering::AcqRel);
        // The store's thread ends only after this one, and reports its failures through `settle`.
        let _ = self.to_store.send(StoreJob::Items(items));
    }

    /// Starts a new segment and queues all earlier ones for sealing, including any whose sealing a crash interrupted.
    fn rotate_and_seal_all(&mut self, done: Box<dyn FnOnce() + Send>) {
        if !self.writer.is_empty() {
            self.rotate();
        }
        for segment in intake::segments(self.writer.dir()).unwrap_or_default() {
            if segment.form != Form::Sealed && segment.path != self.writer.path() {
                let _ = self.to_store.send(StoreJob::Seal(segment));
            }
        }
        let _ = self.to_store.send(StoreJob::Done(done));
    }

    /// Reduces the size of the journal while nothing is appended.
    fn rest(&mut self) {
        self.appended = false;
        if self.writer.len() >= REST_BYTES {
            self.rotate();
        }
        let _ = self.to_store.send(StoreJob::Rest);
    }

    /// Starts a new segment. If that fails, the old one continues to grow.
    fn rotate(&mut self) {
        if self.writer.sync().is_err() {
            return;
        }
        self.set_synced();
        match Writer::create(self.writer.dir(), self.next_seq) {
            Ok(writer) => {
                let full = std::mem::replace(&mut self.writer, writer);
                self.dirty = None;
                let _ = self.to_store.send(StoreJob::Seal(full.segment()));
            }
            Err(error) => tracing::warn!(%error, "Could not start a new intake segment."),
        }
    }
}

/// The thread that syncs events which were acknowledged before their sync.
pub(super) fn sync_batches(files: &Receiver<(Arc<Unsealed>, PathBuf)>) {
    for (file, path) in files {
        if let Err(error) = file.sync(&path) {
            tracing::error!(%error, "Tool events are acknowledged but could not be synced; a power cut may lose them.");
        }
    }
}
