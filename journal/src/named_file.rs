//! Reading files that others can put in their place: those that an agent or a project names, and those of our own folders.
//! Such a path may lead to a FIFO, a device, a file of the kernel that never ends, or a file that the agent itself may not
//! read: none of these may block a thread or fill the memory.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::reach::owner_but_root;

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

/// The ending of a strange file of our own folders that was set aside.
const ASIDE: &str = "aside";
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

/// Gives a file a free name beside it: its own, with this ending and a number if there is such a file. Returns that name.
///
/// # Errors
///
/// If it cannot be renamed.
pub fn put_aside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let numbered = (2_u64..).map(|number| format!("{ending}{number}"));
    let endings = std::iter::once(ending.to_owned()).chain(numbered);
    let mut paths = endings.map(|ending| path.with_added_extension(ending));
    let aside = paths.find(|aside| std::fs::symlink_metadata(aside).is_err());
    let aside = aside.expect("not all names are taken");
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

/// Gives a strange file of our own folders another name, so that it is never opened.
///
/// # Errors
///
/// As [`put_aside`].
pub(crate) fn put_strange_aside(path: &Path) -> io::Result<()> {
    put_aside(path, ASIDE).map(drop)
}

/// Refuses a folder that is another user's: its owner could not use what this process would make there, and would miss
/// what it sets aside (spec ENV-3).
fn refuse_foreign(folder: &Path) -> io::Result<()> {
    let Ok(meta) = folder.metadata() else {
        return Ok(());
    };
    match owner_but_root(&meta, rustix::process::geteuid().as_raw()) {
        None => Ok(()),
        Some(owner) => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{} belongs to uid {owner}: run as that user",
                folder.display()
            ),
        )),
    }
}

/// Opens a file of our own folders, without ever waiting. A strange one (no regular file, a link, of another user) is set
/// aside first, as if it were not there: it gets `.aside` behind its name, and stops neither the daemon nor a client (spec
/// JRNL-29).
///
/// # Errors
///
/// As [`OpenOptions::open`], or if the folder belongs to another user, but root.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    path.parent().map_or(Ok(()), refuse_foreign)?;
    // Opening some devices has an effect already, so they are not even opened.
    if std::fs::symlink_metadata(path).is_ok_and(|meta| !is_own(&meta)) {
        put_strange_aside(path)?;
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

/// Returns the files of a folder, and of those below it, that were set aside.
pub fn set_aside(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ending = path.extension().and_then(std::ffi::OsStr::to_str);
        let is_aside = ending
            .is_some_and(|ending| ending.trim_end_matches(|it: char| it.is_ascii_digit()) == ASIDE);
        if is_aside {
            found.push(path);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(set_aside(&path));
        }
    }
    found
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
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_set_aside_replaces_nothing_and_is_found_in_folders_below() {
        let top = tempfile::tempdir().expect("a folder");
        let below = top.path().join("intake");
        fs::create_dir(&below).expect("a folder");
        let file = below.join("1.log");
        for (content, name) in [
            ("first", "1.log.aside"),
            ("second", "1.log.aside2"),
            ("third", "1.log.aside3"),
        ] {
            fs::write(&file, content).expect("written");
            put_strange_aside(&file).expect("renamed");
            assert_eq!(fs::read_to_string(below.join(name)).expect("kept"), content);
        }
        fs::write(below.join("1.aside.log"), "").expect("written");
        assert_eq!(set_aside(top.path()).len(), 3);
    }

    #[test]
    fn in_a_folder_of_another_user_nothing_is_opened_made_or_set_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "theirs").expect("written");
        for path in [folder.path(), &file] {
            // Only root may give a folder away.
            if std::os::unix::fs::chown(path, Some(65534), None).is_err() {
                return;
            }
        }
        for path in [&file, &folder.path().join("new")] {
            let opened = open_own(path, File::options().append(true).create(true));
            let error = opened.expect_err("another user's");
            assert!(
                error.to_string().contains("belongs to uid 65534"),
                "{error}"
            );
        }
        let left = fs::read_dir(folder.path()).expect("listed");
        let left: Vec<_> = left.flatten().map(|entry| entry.path()).collect();
        assert_eq!(left, [file]);
    }
}
