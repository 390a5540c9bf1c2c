//! Digests of what files hold, apart from comments and layout. A file that did not change since it was read is not read
//! again.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

use checkpoint::{comments, digest};
use journal::{Examined, Timestamp};
use parking_lot::Mutex;

use crate::git::{FILE_TICK, Stamp, changed_at, written_at};
use crate::named_file::{self, Links};

/// The most files of one look.
pub(crate) const FILES_MAX: usize = 5_000;
/// Larger files are not read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The most that one look reads.
const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most files that are remembered.
const KNOWN_MAX: usize = 4 * FILES_MAX;
/// The digest of a missing file.
const GONE: u64 = 0;

static KNOWN: LazyLock<Mutex<HashMap<PathBuf, (Stamp, Held)>>> = LazyLock::new(Mutex::default);

/// The digest of a content, and its hash.
type Held = (u64, u64);

/// Takes the digests of files below `top`. What was written after `began` is not known.
pub(crate) fn take<'a>(
    top: &Path,
    paths: impl Iterator<Item = &'a [u8]>,
    began: Option<Timestamp>,
    deadline: Instant,
) -> Examined {
    let mut found = Examined {
        top: top.to_string_lossy().into_owned(),
        ..Examined::default()
    };
    let mut bytes_left = TOTAL_BYTES_MAX;
    for (count, raw) in paths.enumerate() {
        if count >= FILES_MAX || Instant::now() >= deadline {
            found.is_cut = true;
            break;
        }
        let held = one(top, raw, began, &mut bytes_left);
        let path = String::from_utf8_lossy(raw).into_owned();
        match held.filter(|_| str::from_utf8(raw).is_ok()) {
            Some((digest, hash)) => {
                found.contents.push((path, digest));
                found.hashes.push(hash);
            }
            None => found.unknown.push(path),
        }
    }
    found
}

fn one(top: &Path, raw: &[u8], began: Option<Timestamp>, bytes_left: &mut u64) -> Option<Held> {
    let path = top.join(OsStr::from_bytes(raw));
    let meta = match std::fs::symlink_metadata(&path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // Deleting a file changes its folder.
            let above = path
                .ancestors()
                .find_map(|path| path.symlink_metadata().ok())?;
            let is_late = began.is_some_and(|began| written_at(&above) > began);
            return (!is_late).then_some((GONE, GONE));
        }
        Err(_) => return None,
    };
    if began.is_some_and(|began| written_at(&meta).max(changed_at(&meta)) > began) {
        return None;
    }
    if meta.is_symlink() {
        let target = std::fs::read_link(&path).ok()?;
        let hash = digest::of_bytes(target.as_os_str().as_bytes());
        return Some((hash, hash));
    }
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return None;
    }
    let stamp = Stamp::of(&meta);
    if let Some((known, held)) = KNOWN.lock().get(&path)
        && *known == stamp
    {
        return Some(*held);
    }
    *bytes_left = bytes_left.checked_sub(meta.len())?;
    let held = read(&path, raw)?;
    // A further change within the same tick would leave the same times.
    let is_settled = changed_at(&meta).plus(FILE_TICK) < Timestamp::now();
    let now = path.symlink_metadata();
    let is_same = now.is_ok_and(|meta| Stamp::of(&meta) == stamp);
    if is_settled && is_same {
        let mut known = KNOWN.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(path, (stamp, held));
    }
    Some(held)
}

/// Returns the digest and the hash of a file's content; `None` if it cannot be read whole.
fn read(path: &Path, raw: &[u8]) -> Option<Held> {
    // The file may have been replaced by a FIFO or a link since the check.
    let (file, _) = named_file::open(path, Links::Refuse).ok()?;
    let mut bytes = Vec::new();
    let count = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = u64::try_from(count).is_ok_and(|count| count <= FILE_BYTES_MAX);
    let digest = comments::digest(&String::from_utf8_lossy(raw), &bytes);
    let digest = if digest == GONE { 1 } else { digest };
    is_whole.then(|| (digest, digest::of_bytes(&bytes)))
}
