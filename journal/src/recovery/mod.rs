//! Coming up: the store is brought up to date from the intake log, rebuilt from it where it is damaged, and a write that
//! was cut short is cut off.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Damage, Kind};
use crate::home::create_folder;
use crate::intake::{self, Segment, Writer};
use crate::layout::{intake_dir, passing_stores, store_dir};
use crate::store::{Item, Store};
use crate::{Timestamp, codec};

#[cfg(test)]
mod tests;
pub mod verify;

use verify::compare_tail;

/// Events that are written to the store at once during recovery.
const BATCH: usize = 2048;
/// Bytes that are copied to the intake log at once.
const COPY_BYTES: usize = 4 * 1024 * 1024;
/// How long a journal that was just closed may still be held: by a process that is being started at that moment, which
/// has all files of its parent until it runs its own program.
const LOCK_WAIT: Duration = Duration::from_millis(300);
/// Pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// What opening a journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The last event there is, 0 for none.
    pub last_seq: u64,
    /// Events that were durable but not in the store yet.
    pub moved: u64,
    /// What a person should know, one line each; empty after a clean stop or a plain kill.
    pub notes: Vec<String>,
}

/// Removes what a crash while packing has left. A store that was moved aside and not yet replaced is put back: it is whole,
/// which nobody knows of the log before it is read.
pub(crate) fn remove_passing(dir: &Path) -> Result<()> {
    let (store, [_, aside]) = (store_dir(dir), passing_stores(dir));
    if aside.exists() && !store.exists() {
        fs::rename(&aside, &store).doing("put back", &aside)?;
    }
    for path in passing_stores(dir).into_iter().filter(|path| path.exists()) {
        fs::remove_dir_all(&path).doing("remove", &path)?;
    }
    Ok(())
}

/// Takes the journal for this process; it is given back when the file is dropped, or the process dies.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    let intake = intake_dir(dir);
    create_folder(&intake).doing("create", &intake)?;
    let path = dir.join("lock");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .doing("open", &path)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => {
                std::thread::sleep(LOCK_PAUSE)
            }
            Err(fs::TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            Err(fs::TryLockError::Error(error)) => return Err(Error::disk("lock", &path, &error)),
        }
    }
}

/// What identifies the time since the system came up; none where that cannot be told.
fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// Opens the store, brings it up to date, and returns the segment to go on with. `lock` remembers the boot in which that was
/// done last.
pub(crate) fn recover(dir: &Path, lock: &File) -> Result<(Store, Writer, Recovered)> {
    let mut recovered = Recovered::default();
    remove_passing(dir)?;
    let segments = intake::segments(&intake_dir(dir))?;
    let boot = boot();
    let is_first = boot.is_none() || fs::read_to_string(dir.join("lock")).ok() != boot;
    let (store, tail) = open_current(dir, &segments, u64::MAX, is_first, &mut recovered)?;
    if let Some(boot) = boot.filter(|_| is_first) {
        // Where that fails, the next start compares once more.
        let _ = lock
            .set_len(0)
            .and_then(|()| lock.write_all_at(boot.as_bytes(), 0));
    }
    recovered.last_seq = store.last_seq()?;
    let mut writer = match &tail.open {
        Some((segment, length)) => Writer::resume(segment, *length)?,
        // Where the store has more, that comes first, and there must never be a second, empty end of the log behind it.
        None => Writer::create(&intake_dir(dir), tail.last_seq + 1)?,
    };
    if tail.last_seq < recovered.last_seq {
        complete_intake(&store, &mut writer, tail.last_seq, &mut recovered)?;
    }
    Ok((store, writer, recovered))
}

/// Opens a store again that took no more, with all that was committed up to event `last`. The log may be written to
/// meanwhile: what is behind `last` in it is nobody's yet.
pub(crate) fn reopen(dir: &Path, last: u64) -> Result<(Store, Recovered)> {
    let mut recovered = Recovered::default();
    let segments = intake::segments(&intake_dir(dir))?;
    let (store, _) = open_current(dir, &segments, last, false, &mut recovered)?;
    recovered.last_seq = store.last_seq()?;
    if recovered.last_seq != last {
        return Err(Error::damaged(
            "the store",
            format!("it ends at event {}, not {last}", recovered.last_seq),
        ));
    }
    Ok((store, recovered))
}

/// Opens the store and moves what it lacks into it, up to event `upto`; where it is damaged, into a new one. `is_first` is
/// whether the system has come up since it was opened last.
fn open_current(
    dir: &Path,
    segments: &[Segment],
    upto: u64,
    is_first: bool,
    recovered: &mut Recovered,
) -> Result<(Store, Tail)> {
    let store = match open_whole(dir) {
        Ok(store) => store,
        // None of these says that anything is wrong with it.
        Err(error @ (Error::Newer { .. } | Error::Locked { .. })) => return Err(error),
        Err(error) if error.is_refusal() => return Err(error),
        Err(error) => afresh(dir, &error, recovered)?,
    };
    let had = store.last_seq()?;
    let tail = catch_up(&store, segments, had, upto, recovered)?;
    let compared = if is_first {
        compare_tail(&store, segments)
    } else {
        Ok(())
    };
    let Err(error) = compared.and_then(|()| check_sums(&store)) else {
        return Ok((store, tail));
    };
    if error.is_refusal() {
        return Err(error);
    }
    drop(store);
    let store = afresh(dir, &error, recovered)?;
    let tail = catch_up(&store, segments, 0, upto, recovered)?;
    Ok((store, tail))
}

/// Moves a damaged store aside and begins an empty one.
fn afresh(dir: &Path, error: &Error, recovered: &mut Recovered) -> Result<Store> {
    let aside = set_aside(&store_dir(dir))?;
    let kept = aside.display();
    recovered.notes.push(format!(
        "{error}; it was moved to {kept} and rebuilt from the intake log"
    ));
    Store::open(&store_dir(dir))
}

/// Writes again what only the store has: a power cut may take unsynced tool events from the log and leave them there.
fn complete_intake(
    store: &Store,
    writer: &mut Writer,
    after: u64,
    recovered: &mut Recovered,
) -> Result<()> {
    let mut frames = Vec::new();
    for envelope in store.events_from(after + 1) {
        let envelope = envelope?;
        let payload = store.payload_value(envelope.seq)?;
        let payload = payload.as_deref().unwrap_or(&codec::NO_PAYLOAD);
        frame::push(
            &mut frames,
            Kind::Envelope,
            &codec::join(&codec::encode_event(&envelope), payload),
        );
        if frames.len() > COPY_BYTES {
            writer.append(&frames)?;
            frames.clear();
        }
    }
    writer.append(&frames)?;
    writer.sync()?;
    let (from, to) = (after + 1, recovered.last_seq);
    recovered.notes.push(format!(
        "the intake log lacked events {from} to {to}; they were written again from the store"
    ));
    Ok(())
}

/// Opens the store and looks at both of its ends; a hole in between is for `verify`.
fn open_whole(dir: &Path) -> Result<Store> {
    let store = Store::open(&store_dir(dir))?;
    let last = store.last_seq()?;
    for seq in [1, last.saturating_sub(64).max(1)] {
        for (expected, envelope) in (seq..).zip(store.events_from(seq).take(64)) {
            let envelope = envelope?;
            if envelope.seq != expected {
                return Err(Error::damaged(
                    "the store",
                    format!("event {expected} is missing"),
                ));
            }
            if store.seq_by_id(envelope.id)? != Some(envelope.seq) {
                return Err(Error::damaged(
                    "the store",
                    format!("event {expected} is not found by its id"),
                ));
            }
        }
    }
    Ok(store)
}

/// Compares what the sessions count with what there is. Only after the store has caught up: a kill may leave an event's
/// index entries without the event itself, which is no damage, for the event is written next.
fn check_sums(store: &Store) -> Result<()> {
    let last = store.last_seq()?;
    let counted: u64 = store.entries().iter().map(|entry| entry.events).sum();
    if counted == last {
        return Ok(());
    }
    Err(Error::damaged(
        "the store",
        format!("its sessions have {counted} events, not {last}"),
    ))
}

fn set_aside(path: &Path) -> Result<PathBuf> {
    let aside = path.with_file_name(format!("store.damaged-{}", Timestamp::now().as_micros()));
    fs::rename(path, &aside).doing("move aside", path)?;
    Ok(aside)
}

/// The end of the intake log.
#[derive(Default)]
struct Tail {
    /// Its last event.
    last_seq: u64,
    /// The segment to go on with, and the length of its whole frames.
    open: Option<(Segment, u64)>,
}

/// Moves what the store lacks into it, up to event `upto`.
fn catch_up(
    store: &Store,
    segments: &[Segment],
    had: u64,
    upto: u64,
    recovered: &mut Recovered,
) -> Result<Tail> {
    let mut next = had + 1;
    let mut tail = Tail::default();
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        // A segment that ends before the first missing event need not be read.
        if !is_last && segments[index + 1].first_seq <= next {
            continue;
        }
        let bytes = segment.read()?;
        let mut found = Vec::new();
        let records = intake::records(&bytes, |damage| found.push(damage))
            .take_while(|record| is_upto(record, upto));
        (next, tail.last_seq) = store_missing(store, segment, records, next, recovered)?;
        let mut torn = None;
        let mut damage = Vec::new();
        for found in found {
            match found {
                Damage::Torn { offset, bytes } if is_last => torn = Some((offset, bytes)),
                other => damage.push(other),
            }
        }
        for found in &damage {
            recovered
                .notes
                .push(format!("{}: {found:?}", segment.path.display()));
        }
        if let Some((offset, bytes)) = torn {
            let name = segment.path.display();
            recovered.notes.push(format!(
                "{name}: an unfinished write of {bytes} bytes at {offset} was cut off"
            ));
        }
        // Damage inside the last segment stays readable where it is: writing goes on in a fresh one.
        if is_last && !segment.sealed && damage.is_empty() {
            let length = torn.map_or(bytes.len(), |(offset, _)| offset);
            tail.open = Some((segment.clone(), length as u64));
        }
    }
    Ok(tail)
}

fn is_upto(record: &Result<intake::Record<'_>>, upto: u64) -> bool {
    record
        .as_ref()
        .map_or(true, |record| record.envelope.seq <= upto)
}

/// Writes the records of a segment that the store lacks; returns the event to expect next, and the segment's last one.
fn store_missing<'a>(
    store: &Store,
    segment: &Segment,
    records: impl Iterator<Item = Result<intake::Record<'a>>>,
    mut next: u64,
    recovered: &mut Recovered,
) -> Result<(u64, u64)> {
    let mut last = segment.first_seq - 1;
    let mut batch = Vec::new();
    for record in records {
        let record = record?;
        last = record.envelope.seq;
        if last < next {
            continue;
        }
        if last > next {
            let what = segment.path.display().to_string();
            return Err(Error::damaged(
                what,
                format!("event {next} is missing here and in the store"),
            ));
        }
        batch.push(Item {
            envelope: record.envelope,
            event: record.event.to_vec(),
            payload: record.payload.to_vec(),
        });
        next += 1;
        if batch.len() == BATCH {
            store.put(&batch)?;
            recovered.moved += batch.len() as u64;
            batch.clear();
        }
    }
    store.put(&batch)?;
    recovered.moved += batch.len() as u64;
    Ok((next, last))
}
