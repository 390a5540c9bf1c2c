//! Hook calls that could not be delivered: one file each, with one frame that holds the request as
//! it would have been sent. A file gets its final name after its sync, so a reader never sees a
//! partial one; in a client that is asked to end the sync comes last. If the sync fails the file is
//! renamed anyway: a call that may survive is better than none.
//! ```text
//! spool/<unix microseconds, 20 digits>-<uuid>.spool     a call; names sort by time
//! spool/.<the same>.tmp                                 being written, or left by a client that was killed
//! spool/.full                                           the spool is full
//! run/lost                                              one byte for each call that could not be kept
//! ```

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::SystemTime;

use journal::frame::{self, Kind};
use journal::home::{Home, create_folder};
use journal::{Timestamp, named_file};
use rustix::fs::Mode;

use super::debug::debug;
use super::ending;

/// The most calls that the spool holds.
const FILES_MAX: usize = 100_000;
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// One call in this many measures the spool: measuring takes longer than writing.
const COUNT_EVERY: u32 = 64;
/// A request of this size always measures the spool.
const LARGE_BYTES: usize = 1024 * 1024;
/// While this file exists, no calls are spooled.
const FULL: &str = ".full";

/// Writes a request to the spool. After `Ok` it survives a power failure; otherwise it is lost, and counted.
pub(super) fn keep(home: &Home, id: &str, at: SystemTime, request: &[u8]) -> io::Result<()> {
    // Prompts are private, whatever the host's umask is. A daemon started later inherits this.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let kept = put(&home.spool, id, at, request);
    if kept.is_err()
        && let Err(error) = count_lost(home)
    {
        debug(&format_args!("not counted: {error}"));
    }
    kept
}

fn count_lost(home: &Home) -> io::Result<()> {
    create_folder(&home.run)?;
    let mut options = File::options();
    let mut lost = named_file::open_own(&home.lost_file(), options.append(true).create(true))?;
    lost.write_all(b".")
}

fn put(spool: &Path, id: &str, at: SystemTime, request: &[u8]) -> io::Result<()> {
    create_folder(spool)?;
    make_room(spool, id, request.len())?;
    let micros = Timestamp::from(at).as_micros();
    let name = format!("{micros:020}-{id}.spool");
    let unfinished = spool.join(format!(".{name}.tmp"));
    let kept = write(&unfinished, request).and_then(|file| {
        // A host that asks the client to end kills it soon, and a sync may take longer than that.
        let is_hasty = ending::is_asked();
        let synced = if is_hasty { Ok(()) } else { file.sync_data() };
        fs::rename(&unfinished, spool.join(&name))?;
        Ok(if is_hasty { file.sync_data() } else { synced })
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
    let mut file = named_file::open_own(path, File::options().write(true).create_new(true))?;
    file.write_all(&bytes)?;
    Ok(file)
}

/// Fails if the spool is full. Most calls only look for the mark of an earlier call; the daemon
/// deletes the mark when it has emptied the spool, and a measuring call when there is room again.
fn make_room(spool: &Path, id: &str, length: usize) -> io::Result<()> {
    let mark = spool.join(FULL);
    let is_marked = fs::symlink_metadata(&mark).is_ok_and(|meta| meta.is_file());
    let tail = id.get(id.len().saturating_sub(8)..);
    let digits = tail.and_then(|tail| u32::from_str_radix(tail, 16).ok());
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
    // A large call that does not fit must not keep small ones out.
    if length < LARGE_BYTES {
        named_file::open_own(&mark, File::options().append(true).create(true))?;
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
    let mut files = 0;
    let mut bytes = length as u64;
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
    use std::time::UNIX_EPOCH;

    use super::*;

    /// Its tail is a multiple of [`COUNT_EVERY`].
    const COUNTING: &str = "01a1fffa-28d2-7052-8d5e-d33d1a413d40";
    const PLAIN: &str = "01a1fffa-28d2-7052-8d5e-d33d1a413d41";

    #[test]
    fn what_a_full_spool_drops_is_counted_until_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::under(folder.path());
        let spool = &home.spool;
        create_folder(spool).expect("a folder");
        fs::write(spool.join(FULL), "").expect("written");
        for count in 1..3 {
            let error = keep(&home, PLAIN, UNIX_EPOCH, b"x").expect_err("full");
            assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
            assert_eq!(fs::read(home.lost_file()).expect("there").len(), count);
        }
        keep(&home, COUNTING, UNIX_EPOCH, b"x").expect("room after a count");
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
