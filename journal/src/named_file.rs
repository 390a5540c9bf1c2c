//! Reading files that others can put in their place: those that an agent or a project names, and those of our own folders.
//! Such a path may lead to a FIFO, a device, a file of the kernel that never ends, or a file that the agent itself may not
//! read: none of these may block a thread or fill the memory.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// What to do if the path's last component is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Open the file that the link leads to.
    Follow,
    /// Fail.
    Refuse,
}

/// Opens a regular file, without ever waiting. Returns it with its length in bytes.
///
/// Read no more than this length: files of the kernel claim to be regular and empty, and reading them may wait, or
/// never end.
///
/// # Errors
///
/// If it cannot be opened or is not a regular file.
pub fn open(path: &Path, links: Links) -> io::Result<(File, u64)> {
    let length = |meta: &Metadata| {
        let is_file = meta.is_file().then_some(meta.len());
        is_file.ok_or_else(|| io::Error::other("not a regular file"))
    };
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Opening some devices has an effect already, so they are not even opened.
    match links {
        Links::Follow => length(&std::fs::metadata(path)?)?,
        Links::Refuse => {
            flags |= OFlags::NOFOLLOW;
            length(&std::fs::symlink_metadata(path)?)?
        }
    };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let length = length(&file.metadata()?)?;
    Ok((file, length))
}

/// Reads a file of at most `bytes_max` bytes, which must not be a symbolic link.
///
/// # Errors
///
/// As [`open`], or if the file is larger.
pub fn bytes(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path, Links::Refuse)?;
    if length > bytes_max {
        return Err(io::Error::other(format!("larger than {bytes_max} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a strange file of our own folders is renamed to, behind its name.
const ASIDE: &str = ".aside";
/// The most bytes of a text file of our own.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// Returns whether a file is a regular one of this user.
fn is_own(meta: &Metadata) -> bool {
    meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw()
}

/// Returns whether all files of a folder of ours are regular ones of this user. A missing folder has none.
pub fn has_only_own(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut metas = entries.filter_map(|entry| entry.metadata().ok());
    metas.all(|meta| meta.is_dir() || is_own(&meta))
}

/// Gives a strange file of our own folders another name, so that it is never opened.
///
/// # Errors
///
/// If it cannot be renamed.
pub fn put_aside(path: &Path) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(ASIDE);
    std::fs::rename(path, aside)
}

/// Opens a file of our own folders, without ever waiting. A strange one (no regular file, a link, of another user) is set
/// aside first, as if it were not there: it gets `.aside` behind its name, and stops neither the daemon nor a client (spec
/// JRNL-29).
///
/// # Errors
///
/// As [`OpenOptions::open`].
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    // Opening some devices has an effect already, so they are not even opened.
    if std::fs::symlink_metadata(path).is_ok_and(|meta| !is_own(&meta)) {
        put_aside(path)?;
    }
    let file = options
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !is_own(&file.metadata()?) {
        return Err(io::Error::other("not a regular file of yours"));
    }
    Ok(file)
}

/// Reads a file of our own folders, of at most `bytes_max` bytes.
///
/// # Errors
///
/// As [`open_own`], or if the file is larger.
pub fn own(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_own(path, File::options().read(true))?;
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// Reads a text file of our own folders, of at most one megabyte.
///
/// # Errors
///
/// As [`own`], or if the text is not UTF-8.
pub fn own_text(path: &Path) -> io::Result<String> {
    String::from_utf8(own(path, TEXT_BYTES_MAX)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// Returns the files of a folder that were set aside.
pub fn set_aside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.to_string_lossy().ends_with(ASIDE))
        .collect()
}

/// Reads a text file of at most `bytes_max` bytes, which must not be a symbolic link.
///
/// # Errors
///
/// As [`bytes`], or if the text is not UTF-8.
pub fn text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, bytes_max)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// Reads the beginning of a file, at most `bytes_max` bytes.
///
/// # Errors
///
/// As [`open`].
pub fn beginning(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path, Links::Follow)?;
    let mut bytes = Vec::new();
    file.take(length.min(bytes_max)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
