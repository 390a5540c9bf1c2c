//! What a person does to a whole journal: back it up, bring it back, build its store anew, drop old payloads.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::mpsc::sync_channel;

use crate::error::{Doing, Error, Result};
use crate::log::{Journal, Options};
use crate::recovery::{self, Recovered};
use crate::store::{self, Store};
use crate::{Timestamp, intake, layout};

mod backup;
mod compact;

pub use compact::{Compacted, Retention};

impl Journal {
    /// Writes all that is acknowledged so far into `out`, in the form that [`restore`] reads. Appends go on meanwhile.
    /// Returns how many events it has. `progress` gets the events done and the events in all.
    ///
    /// # Errors
    ///
    /// When the store lacks an event or cannot be read, or `out` takes no more.
    pub fn backup(&self, out: impl Write, progress: impl FnMut(u64, u64)) -> Result<u64> {
        let last = self.settle()?;
        backup::write(self.store(), last, out, progress)?;
        Ok(last)
    }

    /// Drops payloads that are older than `retention` says, from the store and from the intake log. Appends go on
    /// meanwhile; two compactions wait for each other. With `dry_run` nothing changes.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or written, or a segment cannot be replaced. What was done until then stays, and is
    /// no harm.
    pub fn compact(
        &self,
        retention: &Retention,
        now: Timestamp,
        dry_run: bool,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Compacted> {
        let _alone = self
            .maintenance()
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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
        let due = compact::drop_from_store(self.store(), last, is_due, &mut done, &mut progress)?;
        if let Some(due) = due {
            // Only sealed segments are ever replaced, so the one that is written to is ended first.
            let open = intake::segments(&intake_dir)?
                .into_iter()
                .find(|segment| !segment.sealed);
            if !dry_run && open.is_some_and(|open| open.first_seq <= due) {
                self.seal_all()?;
            }
            compact::rewrite_segments(&intake_dir, self.store(), due, is_due, &mut done)?;
        }
        if !dry_run {
            self.store().flush()?;
        }
        (done.store_bytes, done.intake_bytes) = self.disk_bytes();
        Ok(done)
    }

    /// Ends the segment that is written to, and returns once all before it are sealed.
    fn seal_all(&self) -> Result<()> {
        let (sender, sealed) = sync_channel(1);
        self.rotate(Box::new(move || {
            let _ = sender.send(());
        }))?;
        sealed.recv().map_err(|_| Error::Closed)
    }
}

/// Returns how many events a backup says it has.
///
/// # Errors
///
/// When the file cannot be read, or does not begin as a backup does.
pub fn events_in(backup: &Path) -> Result<u64> {
    backup::last_event(backup)
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Events that are there now.
    pub events: u64,
    /// Where what was there before is kept.
    pub kept: Option<PathBuf>,
}

/// Puts the events of a backup in the place of what is in `dir`; the store is made when the journal is opened next.
/// With `replace` a journal that is there is moved aside (kept).
///
/// # Errors
///
/// [`Error::Locked`] while another process has the journal; [`Error::Occupied`] where there is a journal and `replace` is
/// not given; [`Error::Damaged`] for what is no whole backup. In all of these nothing was changed.
pub fn restore(
    dir: &Path,
    backup: &Path,
    replace: bool,
    progress: impl FnMut(u64, u64),
) -> Result<Restored> {
    let _lock = recovery::lock(dir)?;
    let (intake, store) = (layout::intake_dir(dir), layout::store_dir(dir));
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

/// Builds the store anew from the intake log; the old one is moved aside (kept), and put back where that fails. Returns
/// what opening found and where the old store is.
///
/// # Errors
///
/// As [`Journal::open`].
pub fn rebuild(dir: &Path) -> Result<(Recovered, PathBuf)> {
    // Brings the intake log up to what only the store has, and says what stands in the way.
    let (journal, _) = Journal::open(dir, Options::default())?;
    journal.close();
    drop(journal);
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

/// What packing the store did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Size of the store before, in bytes.
    pub before: u64,
    /// Size of the store now.
    pub now: u64,
    /// Size of the intake log now.
    pub intake: u64,
}

/// Seals the intake log's last segment, and writes the store anew without the room that its changes have left unused. A
/// crash leaves the old store or the new one. `progress` gets the entries done and about how many there are.
///
/// # Errors
///
/// As [`Journal::open`], [`Error::Locked`] while another process has the journal among them; the old store stays then.
pub fn pack(dir: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Packed> {
    // Brings the store up to date, and says what stands in the way.
    let (journal, recovered) = Journal::open(dir, Options::default())?;
    journal.seal_all()?;
    let intake = journal.disk_bytes().1;
    journal.close();
    drop(journal);
    let _lock = recovery::lock(dir)?;
    let (store, [fresh, aside]) = (layout::store_dir(dir), layout::passing_stores(dir));
    recovery::remove_passing(dir)?;
    let (old, new) = (Store::open(&store)?, Store::open(&fresh)?);
    // Most events have an entry in four trees.
    old.copy_to(&new, |done| progress(done, recovered.last_seq * 4))?;
    if new.counts(u64::MAX)? != old.counts(u64::MAX)? {
        return Err(Error::damaged(
            fresh.display().to_string(),
            "it does not hold what was written to it",
        ));
    }
    let packed = Packed {
        before: old.size_on_disk(),
        now: new.size_on_disk(),
        intake,
    };
    drop((old, new));
    store::wait_closed(&store)?;
    store::wait_closed(&fresh)?;
    fs::rename(&store, &aside).doing("move aside", &store)?;
    fs::rename(&fresh, &store).doing("move", &fresh)?;
    intake::sync_dir(dir)?;
    recovery::remove_passing(dir)?;
    Ok(packed)
}
