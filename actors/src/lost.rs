//! Hook calls that neither the daemon nor the spool could take: their clients count them in a file (spec JRNL-12).

use std::fs::{self, File, Metadata};

use journal::Home;

use crate::named_file;

/// Space that clients can count lost calls in while the disk is full, and that a disk has free which is not.
const RESERVED_BYTES: u64 = 64 * 1024;

/// Returns how many hook calls clients could keep nowhere, and no event reports yet.
pub(crate) fn lost(home: &Home) -> u64 {
    let meta = fs::symlink_metadata(home.lost_file()).ok();
    meta.filter(Metadata::is_file).map_or(0, |meta| meta.len())
}

/// Returns whether the disk has space. Without, the last page of the log would take an event for each lost call.
pub(crate) fn has_room(home: &Home) -> bool {
    let is_full = |disk: rustix::fs::StatVfs| {
        disk.f_blocks > 0 && disk.f_bavail.saturating_mul(disk.f_frsize) < RESERVED_BYTES
    };
    !rustix::fs::statvfs(&home.run).is_ok_and(is_full)
}

/// Says how many hook calls were lost, and no event reports yet, if any.
pub fn line(home: &Home) -> Option<String> {
    Some(lost(home)).filter(|lost| *lost > 0).map(text)
}

pub(crate) fn text(lost: u64) -> String {
    format!("lost hook calls: {lost}; neither the daemon nor the spool could take them")
}

/// Makes the file in which clients count lost calls, with its space on the disk.
pub fn reserve(home: &Home) {
    let mut options = File::options();
    let opened = named_file::open_own(&home.lost_file(), options.append(true).create(true));
    // Without the space a full disk may count fewer.
    #[cfg(target_os = "linux")]
    let _ = opened.map(|file| {
        rustix::fs::fallocate(
            file,
            rustix::fs::FallocateFlags::KEEP_SIZE,
            0,
            RESERVED_BYTES,
        )
    });
    #[cfg(not(target_os = "linux"))]
    drop(opened);
}
