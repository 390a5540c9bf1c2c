//! Opening a journal: brings the store up to date from the intake log, rebuilds a damaged store, and truncates an
//! unfinished write at the end of the log (spec JRNL-8, JRNL-9).

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};
use crate::frame::{self, Damage, Kind};
use crate::home::create_folder;
use crate::intake::{self, Form, Segment, Writer};
use crate::layout::{intake_dir, passing_stores, store_dir};
use crate::store::{self, Item, Store};
use crate::{Timestamp, codec, named_file};

#[cfg(test)]
mod tests;
pub mod verify;

use verify::compare_tail;

/// Events in one write to the store during recovery.
const BATCH: usize = 2048;
/// Bytes in one write when the intake log is completed from the store.
const COPY_BYTES: usize = 4 * 1024 * 1024;
/// How long to wait for the lock of a journal that was just closed: a process being started has all files of its parent
/// open until it runs its own program.
const LOCK_WAIT: Duration = Duration::from_millis(300);
/// Pause between two attempts.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The result of opening a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Sequence number of the last event, 0 for an empty journal.
    pub last_seq: u64,
    /// Number of events that were added to the store from the intake log.
    pub moved: u64,
    /// Damage found and repaired, one line each; empty after a clean stop or a plain kill.
    pub notes: Vec<String>,
}

/// Removes the remains of packing that a crash interrupted. A store that was moved aside and not replaced is put back: it
/// is complete, while the log has not been checked yet.
pub(crate) fn remove_passing(dir: &Path) -> Result<()> {
    let store = store_dir(dir);
    let [_, aside] = passing_stores(dir);
    if aside.exists() && !store.exists() {
        fs::rename(&aside, &store).doing("put back", &aside)?;
    }
    for path in passing_stores(dir).into_iter().filter(|path| path.exists()) {
        fs::remove_dir_all(&path).doing("remove", &path)?;
    }
    Ok(())
}

/// Puts a packed store in the place of the old one; both are closed.
pub(crate) fn put_packed(dir: &Path) -> Result<()> {
    let store = store_dir(dir);
    let [fresh, aside] = passing_stores(dir);
    store::wait_closed(&store)?;
    store::wait_closed(&fresh)?;
    fs::rename(&store, &aside).doing("move aside", &store)?;
    fs::rename(&fresh, &store).doing("move", &fresh)?;
    intake::sync_dir(dir)?;
    remove_passing(dir)
}

/// Packs the open store of the journal in `dir`. Returns false if a reader was in the way.
pub(crate) fn repack(dir: &Path, store: &Store) -> Result<bool> {
    remove_passing(dir)?;
    let [fresh, _] = passing_stores(dir);
    store.repack(&fresh, &store_dir(dir), || put_packed(dir))
}

/// Locks the journal for this process, until the file is dropped or the process ends.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    create_folder(dir).doing("create", dir)?;
    let path = dir.join("lock");
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = named_file::open_own(&path, &mut options).doing("open", &path)?;
    let intake = intake_dir(dir);
    create_folder(&intake).doing("create", &intake)?;
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

/// Identifies the current boot of the system; `None` on systems without such an id.
fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// Opens the store, brings it up to date, and returns the segment to continue. The file `lock` holds the id of the boot in
/// which the journal was last opened.
pub(crate) fn recover(dir: &Path, lock: &File) -> Result<(Store, Writer, Recovered)> {
    let mut recovered = Recovered::default();
    remove_passing(dir)?;
    intake::remove_superseded(&intake_dir(dir))?;
    let segments = intake::segments(&intake_dir(dir))?;
    let boot = boot();
    let is_first = boot.is_none() || named_file::own_text(&dir.join("lock")).ok() != boot;
    let (store, tail) = open_current(dir, &segments, u64::MAX, is_first, &mut recovered)?;
    if let Some(boot) = boot.filter(|_| is_first) {
        // If that fails, the next start compares again.
        let _ = lock
            .set_len(0)
            .and_then(|()| lock.write_all_at(boot.as_bytes(), 0));
    }
    recovered.last_seq = store.last_seq()?;
    let mut writer = match &tail.open {
        Some((segment, length)) => Writer::resume(segment, *length)?,
        // Events that only the store has are written to it first; the log must never have a second, empty end.
        None => Writer::create(&intake_dir(dir), tail.last_seq + 1)?,
    };
    if tail.last_seq < recovered.last_seq {
        complete_intake(&store, &mut writer, tail.last_seq, &mut recovered)?;
    }
    Ok((store, writer, recovered))
}

/// Reopens a store that failed and adds the committed events up to `last`. The log may be written to meanwhile: entries
/// after `last` are not committed yet.
pub(crate) fn reopen(dir: &Path, last: u64) -> Result<(Store, Recovered)> {
    let mut recovered = Recovered::default();
    remove_passing(dir)?;
    let segments = intake::segments(&intake_dir(dir))?;
    let (store, _) = open_current(dir, &segments, last, false, &mut recovered)?;
    recovered.last_seq = store.last_seq()?;
    if recovered.last_seq != last {
        let problem = format!("it ends at event {} instead of {last}", recovered.last_seq);
        return Err(Error::damaged("the store", problem));
    }
    Ok((store, recovered))
}

/// Opens the store, or creates a new one if it is damaged, and adds the missing events up to `upto`. `is_first`: this is
/// the first start after a boot.
fn open_current(
    dir: &Path,
    segments: &[Segment],
    upto: u64,
    is_first: bool,
    recovered: &mut Recovered,
) -> Result<(Store, Tail)> {
    let opened = match unfit(&store_dir(dir)) {
        Some(problem) => Err(Error::damaged("the store", problem)),
        None => open_whole(dir, segments),
    };
    let store = match opened {
        Ok(store) => store,
        // These errors do not mean damage.
        Err(error @ (Error::Newer { .. } | Error::Locked { .. })) => return Err(error),
        Err(error) if error.is_refusal() => return Err(error),
        Err(error) => replace_store(dir, &error, recovered)?,
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
    let store = replace_store(dir, &error, recovered)?;
    let tail = catch_up(&store, segments, 0, upto, recovered)?;
    Ok((store, tail))
}

/// Returns why the files of a store cannot be given to sled, which would wait for them, or begin
/// an empty store without a word.
fn unfit(store: &Path) -> Option<&'static str> {
    let has_data = || fs::metadata(store.join("db")).is_ok_and(|db| db.len() > 0);
    if !named_file::has_only_own(store) {
        Some("it has a file that is no regular one of yours")
    } else if store.join("conf").exists() && !has_data() {
        Some("its data is empty or missing")
    } else {
        None
    }
}

/// Moves a damaged store aside and creates an empty one.
fn replace_store(dir: &Path, error: &Error, recovered: &mut Recovered) -> Result<Store> {
    let aside = set_aside(&store_dir(dir))?;
    let kept = aside.display();
    let note = format!("{error}; it was moved to {kept} and rebuilt from the intake log");
    recovered.notes.push(note);
    Store::open(&store_dir(dir), &intake_dir(dir))
}

/// Adds events to the log that only the store has: a power cut may remove unsynced tool events from the log alone.
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
    recovered.notes.push(format!(
        "the intake log lacked events {} to {}; they were written again from the store",
        after + 1,
        recovered.last_seq
    ));
    Ok(())
}

/// Opens the store and checks the last of the events that it holds; `verify` finds a hole in between.
fn open_whole(dir: &Path, segments: &[Segment]) -> Result<Store> {
    let store = Store::open(&store_dir(dir), &intake_dir(dir))?;
    let last = store.last_seq()?;
    if last > 0 && !store.has_entry(1)? {
        return Err(Error::missing("the store", 1));
    }
    for seq in last.saturating_sub(64).max(1)..=last {
        if let Some(value) = store.kept_event(seq)? {
            let envelope = codec::decode_event(&value)?;
            if store.seq_by_id(envelope.id)? != Some(seq) {
                let problem = format!("event {seq} is not found by its id");
                return Err(Error::damaged("the store", problem));
            }
        } else if !is_sealed(segments, seq) {
            return Err(Error::missing("the store", seq));
        }
    }
    Ok(store)
}

/// Returns whether an event must be in a sealed segment.
fn is_sealed(segments: &[Segment], seq: u64) -> bool {
    let behind = segments.partition_point(|segment| segment.first_seq <= seq);
    segments[..behind]
        .last()
        .is_some_and(|segment| segment.form == Form::Sealed)
}

/// Compares the number of events with the sum over all sessions. Only after the store has caught up: a kill may leave an
/// event's index entries without the event, which is not damage, because the event is added next.
fn check_sums(store: &Store) -> Result<()> {
    let last = store.last_seq()?;
    let counted: u64 = store.entries().iter().map(|entry| entry.events).sum();
    if counted == last {
        return Ok(());
    }
    let problem = format!("its sessions have {counted} events instead of {last}");
    Err(Error::damaged("the store", problem))
}

fn set_aside(path: &Path) -> Result<PathBuf> {
    let aside = path.with_file_name(format!("store.damaged-{}", Timestamp::now().as_micros()));
    fs::rename(path, &aside).doing("move aside", path)?;
    Ok(aside)
}

/// The end of the intake log.
#[derive(Default)]
struct Tail {
    /// Sequence number of the last event.
    last_seq: u64,
    /// The segment to continue, and the length of its complete frames.
    open: Option<(Segment, u64)>,
}

/// Adds the events up to `upto` that the store lacks.
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
        // Skip segments that end before the first missing event.
        if !is_last && segments[index + 1].first_seq <= next {
            continue;
        }
        let bytes = segment.read()?;
        let mut found = Vec::new();
        let records = intake::records(&bytes, |damage| found.push(damage))
            .take_while(|record| is_upto(record, upto));
        let put = |batch: &[Item]| match segment.form {
            Form::Sealed => store.put_sealed(batch),
            Form::Open if is_last => store.put(batch),
            Form::Open => store.put_kept(batch),
        };
        (next, tail.last_seq) = store_missing(put, segment, records, next, recovered)?;
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
        // Damage inside the last segment stays where it is, still readable: appends continue in a new segment.
        if is_last && !segment.is_sealed() && damage.is_empty() {
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

/// Stores the records of a segment that the store lacks. Returns the next expected event, and the segment's last one.
fn store_missing<'a>(
    put: impl Fn(&[Item]) -> Result<()>,
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
            let problem = format!("event {next} is missing here and in the store");
            return Err(Error::damaged(what, problem));
        }
        batch.push(Item {
            envelope: record.envelope,
            event: record.event.into(),
            payload: record.payload.into(),
        });
        next += 1;
        if batch.len() == BATCH {
            put(&batch)?;
            recovered.moved += batch.len() as u64;
            batch.clear();
        }
    }
    put(&batch)?;
    recovered.moved += batch.len() as u64;
    Ok((next, last))
}
