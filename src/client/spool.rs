//! Hook calls that could not be delivered: one file each, with one frame that holds the request as it would have
//! been sent. A file has its name only once its bytes are on disk, so that a reader never sees half of one. Where the disk
//! would not say that they are, it gets its name all the same: a call that may survive is better than none.
//!
//! ```text
//! spool/<unix microseconds, 20 digits>-<uuid>.spool     a call; names sort by time
//! spool/.<the same>.tmp                                 being written, or left by a client that was killed
//! spool/.full                                           the spool is full; one byte for each call dropped
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use journal::frame::{self, Kind};
use journal::home::create_folder;
use rustix::fs::Mode;

/// The number of calls that the spool holds.
const FILES_MAX: usize = 100_000;
/// The bytes that the spool holds.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// One call in this many counts what is there: counting takes longer than keeping.
const COUNT_EVERY: u32 = 64;
/// A request of this size counts in any case.
const LARGE_BYTES: usize = 1024 * 1024;
/// Its presence says that nothing more is kept.
const FULL: &str = ".full";

/// Keeps a request until the daemon fetches it. Once this returns well it survives a power cut.
///
/// # Errors
///
/// When the disk or the spool is full, or the folder not ours to write: the request is lost then. When the disk cannot sync
/// it: the daemon finds it, unless the power fails first.
pub(super) fn keep(spool: &Path, id: &str, at: SystemTime, request: &[u8]) -> io::Result<()> {
    // Whatever the host's umask is: prompts are nobody else's business. A daemon started later inherits it.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    create_folder(spool)?;
    make_room(spool, id, request.len())?;
    let micros = at
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros();
    let name = format!("{micros:020}-{id}.spool");
    let unfinished = spool.join(format!(".{name}.tmp"));
    let kept = write(&unfinished, request).and_then(|file| {
        let synced = file.sync_data();
        fs::rename(&unfinished, spool.join(&name)).map(|()| synced)
    });
    if kept.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    kept??;
    File::open(spool)?.sync_all()
}

fn write(path: &Path, request: &[u8]) -> io::Result<File> {
    let mut bytes = Vec::new();
    frame::push(&mut bytes, Kind::Request, request);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&bytes)?;
    Ok(file)
}

/// Refuses when the spool is full. Most calls only look whether another call has found it so; the daemon deletes
/// that mark when it has emptied the spool, and a call that counts does when there is room again.
fn make_room(spool: &Path, id: &str, length: usize) -> io::Result<()> {
    let mark = spool.join(FULL);
    let is_marked = mark.exists();
    let digits = id
        .get(id.len().saturating_sub(8)..)
        .and_then(|tail| u32::from_str_radix(tail, 16).ok());
    let is_counted = length >= LARGE_BYTES || digits.is_none_or(|digits| digits % COUNT_EVERY == 0);
    if !is_counted && !is_marked {
        return Ok(());
    }
    if is_counted && has_room(spool, length, FILES_MAX, BYTES_MAX) {
        return if is_marked {
            fs::remove_file(&mark)
        } else {
            Ok(())
        };
    }
    // A large call that does not fit must not keep the small ones out.
    if length < LARGE_BYTES {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&mark)?
            .write_all(b".")?;
    }
    Err(io::Error::new(
        io::ErrorKind::QuotaExceeded,
        "the spool is full",
    ))
}

fn has_room(spool: &Path, length: usize, files_max: usize, bytes_max: u64) -> bool {
    let Ok(entries) = fs::read_dir(spool) else {
        return true;
    };
    let (mut files, mut bytes) = (0, length as u64);
    for entry in entries.flatten() {
        files += 1;
        bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        if files >= files_max || bytes > bytes_max {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its tail is a multiple of [`COUNT_EVERY`].
    const COUNTING: &str = "01a1fffa-28d2-7052-8d5e-d33d1a413d40";
    const PLAIN: &str = "01a1fffa-28d2-7052-8d5e-d33d1a413d41";

    #[test]
    fn a_full_spool_counts_what_it_drops_until_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = folder.path();
        fs::write(spool.join(FULL), "").expect("written");
        let error = keep(spool, PLAIN, UNIX_EPOCH, b"x").expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        assert_eq!(fs::read(spool.join(FULL)).expect("there"), b".");
        keep(spool, COUNTING, UNIX_EPOCH, b"x").expect("room after a count");
        assert!(!spool.join(FULL).exists());
        assert!(
            spool
                .join(format!("00000000000000000000-{COUNTING}.spool"))
                .exists()
        );
    }

    #[test]
    fn room_ends_with_files_or_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), [0; 100]).expect("written");
        }
        assert!(has_room(folder.path(), 100, 3, 300));
        assert!(!has_room(folder.path(), 100, 2, 300));
        assert!(!has_room(folder.path(), 101, 3, 300));
    }
}
