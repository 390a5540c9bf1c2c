//! The folder that git uses in place of a repository's `.git`: links to what holds data, and a configuration of our own.
//!
//! A daemon keeps the folder that a look leaves: to make and remove one takes some thirty changes of folders on the disk.
//! It is used again only by a look that would make the same one, and by one look at a time; two looks at once have a
//! folder each.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::TempDir;

use super::times::Stamp;
use crate::named_file;

/// What holds data that all work trees of a repository share.
const COMMON: [&str; 9] = [
    "objects",
    "refs",
    "packed-refs",
    "reftable",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "modules",
];
/// Files with data of one work tree.
const OWN: [&str; 4] = ["index", "refs", "reftable", "info/sparse-checkout"];
/// The parts of an index that is split are named so.
const SHARED_INDEX: &str = "sharedindex.";
/// The most such parts.
const SHARED_INDEXES_MAX: usize = 64;
/// The longest `HEAD` or `commondir`, in bytes.
pub(super) const SMALL_BYTES_MAX: u64 = 8 * 1024;
/// Where the part of a linked work tree is, in the private folder.
const LINKED: &str = "worktrees/linked";

/// What a private folder is made from besides the configuration, and what may change with every command of git.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sources {
    head: Head,
    common_dir: PathBuf,
    shared_indexes: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
enum Head {
    Link(PathBuf),
    File(Vec<u8>),
}

impl Sources {
    pub(super) fn of(git_dir: &Path) -> io::Result<Self> {
        let head = git_dir.join("HEAD");
        let shared = fs::read_dir(git_dir)?
            .filter_map(Result::ok)
            .map(|entry| entry.file_name())
            .filter(|name| name.as_bytes().starts_with(SHARED_INDEX.as_bytes()));
        let mut shared_indexes: Vec<_> = shared.take(SHARED_INDEXES_MAX).collect();
        shared_indexes.sort_unstable();
        Ok(Self {
            head: match fs::read_link(&head) {
                Ok(name) => Head::Link(name),
                Err(_) => Head::File(named_file::bytes(&head, SMALL_BYTES_MAX)?),
            },
            common_dir: common_dir(git_dir),
            shared_indexes,
        })
    }
}

/// A private folder, which is removed with everything in it at the end.
#[derive(Debug)]
pub(super) struct Folder {
    /// What git has to use: the folder itself, or the part of a linked work tree in it.
    git_dir: PathBuf,
    sources: Sources,
    /// Everything in the folder that is not a link, as it was made. To add, remove or replace a link changes its folder.
    made: Vec<(PathBuf, Stamp)>,
    /// Removed when this is dropped.
    _folder: TempDir,
}

impl Folder {
    /// Makes `folder` a replacement for the repository in `git_dir`.
    pub(super) fn make(
        folder: TempDir,
        git_dir: &Path,
        sources: Sources,
        config: &[u8],
    ) -> io::Result<Self> {
        let (top, common_dir) = (folder.path(), &sources.common_dir);
        make(&top.join("info"))?;
        fs::write(top.join("config"), config)?;
        for name in COMMON {
            symlink(common_dir.join(name), top.join(name))?;
        }
        let mut made = vec!["", "info", "config"];
        let private = if common_dir == git_dir {
            top.to_owned()
        } else {
            let private = top.join(LINKED);
            make(&private.join("info"))?;
            fs::write(private.join("commondir"), "../..")?;
            made.extend(["worktrees", LINKED]);
            private
        };
        for name in OWN {
            let link = private.join(name);
            // The only work tree of a repository has one of each.
            if link.symlink_metadata().is_err() {
                symlink(git_dir.join(name), link)?;
            }
        }
        for name in &sources.shared_indexes {
            symlink(git_dir.join(name), private.join(name))?;
        }
        let head = private.join("HEAD");
        // Git takes no link for `HEAD` but one to a name.
        match &sources.head {
            Head::Link(name) => symlink(name, &head)?,
            Head::File(bytes) => fs::write(&head, bytes)?,
        }
        let mut paths: Vec<PathBuf> = made.iter().map(|name| top.join(name)).collect();
        paths.extend(["info", "commondir", "HEAD"].map(|name| private.join(name)));
        let made = paths.into_iter().filter_map(|path| {
            let stamp = stamp(&path)?;
            Some((path, stamp))
        });
        Ok(Self {
            git_dir: private,
            made: made.collect(),
            sources,
            _folder: folder,
        })
    }

    /// Returns the folder that git has to use.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns whether the folder is as it was made.
    fn is_intact(&self) -> bool {
        let is_same = |(path, stamp): &(PathBuf, Stamp)| self::stamp(path) == Some(*stamp);
        self.made.iter().all(is_same)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    Some(Stamp::of(&path.symlink_metadata().ok()?))
}

/// The private folder that the last look at a repository left.
#[derive(Debug, Default)]
pub(super) struct Left(Mutex<Option<Folder>>);

impl Left {
    /// Reuses the kept folder if it is current; otherwise removes it.
    pub(super) fn take(&self, sources: &Sources) -> Option<Folder> {
        let left = self.0.lock().take();
        left.filter(|folder| folder.sources == *sources && folder.is_intact())
    }

    /// Leaves a folder to the next look.
    pub(super) fn put(&self, folder: Folder) {
        let mut left = self.0.lock();
        let other = left.replace(folder);
        // To remove one takes a while.
        drop(left);
        drop(other);
    }
}

/// Returns the folder with what all work trees of a repository share.
pub(super) fn common_dir(git_dir: &Path) -> PathBuf {
    match named_file::bytes(&git_dir.join("commondir"), SMALL_BYTES_MAX) {
        Ok(bytes) => git_dir.join(OsStr::from_bytes(bytes.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
