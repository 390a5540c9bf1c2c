//! Backup, restore, rebuilding and packing of the store, compaction.

use std::fs;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use crate::error::{Doing, Error, Result};
use crate::log::{Journal, Options};
use crate::recovery::{self, Recovered};
use crate::store::Store;
use crate::{Identity, Renewal, Timestamp, intake, layout};

mod backup;
mod compact;
mod forget;
mod leave_out;

pub use compact::{Compacted, Retention};
pub use forget::{Forgotten, forget_imported, forget_received};
pub use leave_out::leave_out_damaged;

impl Journal {
    /// Writes all acknowledged events to `out`, in the format that [`restore`] reads, and returns their number. Appends
    /// continue meanwhile. `progress` gets the number of events done and of all events.
    ///
    /// # Errors
    ///
    /// If the store lacks an event or cannot be read, or writing to `out` fails.
    pub fn backup(&self, out: impl Write, progress: impl FnMut(u64, u64)) -> Result<u64> {
        let last = self.settle()?;
        backup::write(self.store(), last, out, progress)?;
        Ok(last)
    }

    /// Drops payloads that are older than `retention` allows, from the store and from the intake log. Appends continue
    /// meanwhile; a second compaction waits for the first. With `dry_run` nothing changes.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written, or a segment cannot be replaced. The work done so far stays and is
    /// harmless.
    pub fn compact(
        &self,
        retention: &Retention,
        now: Timestamp,
        dry_run: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Compacted> {
        let _alone = self.maintenance().lock();
        let last = self.settle()?;
        let intake_dir = layout::intake_dir(self.dir());
        let is_due = |envelope: &crate::Envelope| retention.is_due(envelope, now);
        let (store_bytes_before, intake_bytes_before) = self.disk_bytes();
        let mut done = Compacted {
            dry_run,
            store_bytes_before,
            intake_bytes_before,
            ..Compacted::default()
        };
        // Only sealed segments are ever replaced, so the open one is sealed first.
        if !dry_run && compact::has_due_unsealed(&intake_dir, last, is_due)? {
            self.seal_all()?;
        }
        compact::rewrite_segments(
            &intake_dir,
            self.store(),
            last,
            is_due,
            &mut done,
            &mut progress,
        )?;
        compact::drop_kept(self.store(), last, is_due, &mut done)?;
        if !dry_run {
            self.store().flush()?;
        }
        (done.store_bytes, done.intake_bytes) = self.disk_bytes();
        Ok(done)
    }

    /// Starts a new segment, and returns once all earlier ones are sealed.
    fn seal_all(&self) -> Result<()> {
        let (sender, sealed) = sync_channel(1);
        self.rotate(Box::new(move || {
            let _ = sender.send(());
        }))?;
        sealed.recv().map_err(|_| Error::Closed)
    }
}

/// Returns the number of events that the head of a backup states.
///
/// # Errors
///
/// If the file cannot be read or is not a backup.
pub fn events_in(backup: &Path) -> Result<u64> {
    backup::last_event(backup)
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Number of restored events.
    pub events: u64,
    /// The folder with the previous journal, if there was one.
    pub kept: Option<PathBuf>,
}

/// Restores a backup into `dir`. The store is built when the journal is opened next. With `replace` an existing journal is
/// moved aside and kept.
///
/// # Errors
///
/// [`Error::Locked`] while another process has the journal open; [`Error::Occupied`] if `dir` has a journal and `replace`
/// is false; [`Error::Damaged`] if the file is not a complete backup. In all these cases nothing was changed.
pub fn restore(
    dir: &Path,
    backup: &Path,
    replace: bool,
    progress: impl FnMut(u64, u64),
) -> Result<Restored> {
    let _lock = recovery::lock(dir)?;
    let intake = layout::intake_dir(dir);
    let store = layout::store_dir(dir);
    let occupied = store.exists() || !intake::segments(&intake)?.is_empty();
    if occupied && !replace {
        return Err(Error::Occupied {
            path: dir.to_owned(),
        });
    }
    let now = Timestamp::now().as_micros();
    let unpacked = dir.join(format!("restoring-{now}"));
    let events = match backup::unpack(backup, &unpacked, progress) {
        Ok(events) => events,
        Err(error) => {
            let _ = fs::remove_dir_all(&unpacked);
            return Err(error);
        }
    };
    // First: after a crash in between, a new name for the old events does no harm.
    Identity::renew(dir, Renewal::Restored)?;
    let mut kept = None;
    if occupied {
        let aside = dir.join(format!("replaced-{now}"));
        fs::create_dir(&aside).doing("create", &aside)?;
        if store.exists() {
            fs::rename(&store, aside.join("store")).doing("move aside", &store)?;
        }
        fs::rename(&intake, aside.join("intake")).doing("move aside", &intake)?;
        kept = Some(aside);
    } else {
        fs::remove_dir(&intake).doing("remove", &intake)?;
    }
    fs::rename(layout::intake_dir(&unpacked), &intake).doing("move", &intake)?;
    let _ = fs::remove_dir(&unpacked);
    intake::sync_dir(dir)?;
    Ok(Restored { events, kept })
}

/// The result of rebuilding the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// What opening the journal found.
    pub recovered: Recovered,
    /// The old store.
    pub kept: PathBuf,
    /// The events that were left out.
    pub left_out: Vec<RangeInclusive<u64>>,
}

/// Rebuilds the store from the intake log. The old store is moved aside and kept, or put back if that fails. With `force`
/// events that cannot be read are left out, see [`leave_out_damaged`]; without it that is an error.
///
/// # Errors
///
/// As [`Journal::open`].
pub fn rebuild(dir: &Path, force: bool) -> Result<Rebuilt> {
    // Adds events to the intake log that only the store has.
    match Journal::open(dir, Options::default()) {
        Ok((journal, _)) => journal.close(),
        Err(Error::Damaged { .. }) if force => {}
        Err(error) => return Err(error),
    }
    let left_out = match force {
        true => leave_out_damaged(dir)?,
        false => Vec::new(),
    };
    let (recovered, kept) = build_again(dir)?;
    Ok(Rebuilt {
        recovered,
        kept,
        left_out,
    })
}

fn build_again(dir: &Path) -> Result<(Recovered, PathBuf)> {
    let store = layout::store_dir(dir);
    let aside = store.with_file_name(format!("store.replaced-{}", Timestamp::now().as_micros()));
    {
        let _lock = recovery::lock(dir)?;
        fs::rename(&store, &aside).doing("move aside", &store)?;
    }
    match Journal::open(dir, Options::default()) {
        Ok((journal, recovered)) => {
            journal.close();
            Ok((recovered, aside))
        }
        Err(error) => {
            let _ = fs::remove_dir_all(&store);
            fs::rename(&aside, &store).doing("put back", &store)?;
            Err(error)
        }
    }
}

/// The result of packing the store. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Size of the store before.
    pub before: u64,
    /// Size of the store now.
    pub now: u64,
    /// Size of the intake log now.
    pub intake: u64,
}

/// Seals the intake log's last segment and copies the store into a new one, without unused space. A crash leaves the old
/// store or the new one. `progress` gets the number of entries copied and of all entries.
///
/// # Errors
///
/// As [`Journal::open`]; the old store then stays.
pub fn pack(dir: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Packed> {
    // Brings the store up to date.
    let (journal, _) = Journal::open(dir, Options::default())?;
    journal.seal_all()?;
    let intake = journal.disk_bytes().1;
    journal.close();
    drop(journal);
    let _lock = recovery::lock(dir)?;
    let store = layout::store_dir(dir);
    let [fresh, _] = layout::passing_stores(dir);
    recovery::remove_passing(dir)?;
    let intake_dir = layout::intake_dir(dir);
    let old = Store::open(&store, &intake_dir)?;
    let before = old.size_on_disk();
    let new = Store::open(&fresh, &intake_dir)?;
    let all = old.counts()?.iter().sum::<usize>() as u64;
    old.copy_to(&new, |done| progress(done, all))?;
    let packed = Packed {
        before,
        now: new.size_on_disk(),
        intake,
    };
    drop((old, new));
    recovery::put_packed(dir)?;
    Ok(packed)
}
