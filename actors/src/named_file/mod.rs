//! Reading files that an agent or a project names. Such a path may lead to a FIFO, a device, a file of the kernel that
//! never ends, or a file that the agent itself may not read: none of these may block a thread or fill the memory.

mod backward;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

pub(crate) use backward::Backward;

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

#[cfg(test)]
mod tests;
