//! The files that the turn's calls name: they are looked at before any other, and by their content where git says that
//! they did not change (`assume-unchanged`, the same size and time).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::before;
use super::view::View;
use crate::named_file::{self, Links};

/// The most edited files that are compared although git does not list them.
const COMPARED_MAX: usize = 64;
/// Larger files are not compared.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// What a file of git-lfs is in a commit.
const POINTER: &[u8] = b"version https://git-lfs.";

/// The files that the turn's calls name as written.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Those of edits, absolute.
    pub edited: Vec<PathBuf>,
    /// Those of shell commands, as they are written there. A relative one may start from any folder.
    pub written: Vec<String>,
}

/// The same, seen from the top of a work tree.
#[derive(Debug, Default)]
pub(crate) struct Within {
    edited: Vec<Vec<u8>>,
    /// The same for names that agents cannot write: bytes that are not UTF-8 were replaced.
    lossy: HashSet<String>,
    ends: Vec<String>,
}

impl Within {
    pub(crate) fn new(named: &Named, top: &Path) -> Self {
        let edited = named.edited.iter().filter_map(|path| below(path, top));
        let edited: Vec<Vec<u8>> = edited.collect();
        let (mut ends, mut lossy) = (Vec::new(), HashSet::new());
        for path in &named.written {
            if path.starts_with('/') {
                let path = below(Path::new(path), top);
                lossy.extend(path.map(|path| String::from_utf8_lossy(&path).into_owned()));
            } else {
                // `..` leads to a folder that is not known here.
                let parts = path
                    .split('/')
                    .filter(|part| !matches!(*part, "." | "" | ".."));
                ends.push(parts.collect::<Vec<_>>().join("/"));
            }
        }
        lossy.extend(
            edited
                .iter()
                .map(|path| String::from_utf8_lossy(path).into_owned()),
        );
        ends.retain(|end| !end.is_empty());
        Self {
            edited,
            lossy,
            ends,
        }
    }

    /// Returns whether a call names a file, whose path starts at the top.
    pub(crate) fn has(&self, path: &str) -> bool {
        let ends_so = |end: &String| {
            let before = path.strip_suffix(end.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.lossy.contains(path) || self.ends.iter().any(ends_so)
    }

    /// Returns the edited files that git does not list although they hold something else than in the last commit. With
    /// `is_cut`, git's list is not whole, so those that the commit does not have count too.
    pub(super) fn unlisted(
        &self,
        view: &View,
        listed: &[&[u8]],
        is_cut: bool,
        deadline: Instant,
    ) -> Vec<Vec<u8>> {
        let listed: HashSet<&[u8]> = listed.iter().copied().collect();
        let top = &view.found.top;
        let unlisted = self.edited.iter().filter(|path| {
            !listed.contains(path.as_slice()) && !path.contains(&b'\n') && !path.is_empty()
        });
        let read =
            |path: &Vec<u8>| Some((path.clone(), content(&top.join(OsStr::from_bytes(path)))?));
        let mut files: Vec<_> = unlisted.filter_map(read).take(COMPARED_MAX).collect();
        files.dedup_by(|later, first| later.0 == first.0);
        // A file under a filter that is not run never equals its commit.
        if files.is_empty() || !view.found.filters.is_empty() {
            return Vec::new();
        }
        let names = files.iter();
        let names: Vec<_> = names
            .map(|(path, _)| before::name(Some("HEAD"), path))
            .collect();
        let read = before::Reader::new(view).read(&names, deadline, || ());
        let read = read.unwrap_or_else(|_| Vec::new());
        let compared = files.into_iter().zip(read);
        let differing = compared.filter(|((_, now), before)| {
            let before = before.as_ref();
            before.map_or(is_cut, |before| !is_same(before, now))
        });
        differing.map(|((path, _), _)| path).collect()
    }
}

/// Returns a path relative to the top; links in its folder are resolved.
fn below(path: &Path, top: &Path) -> Option<Vec<u8>> {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    if let Ok(below) = path.strip_prefix(top) {
        return Some(bytes(below)).filter(|below| !below.starts_with(b".."));
    }
    let folder = path.parent()?.canonicalize().ok()?;
    let path = folder.join(path.file_name()?);
    path.strip_prefix(top).ok().map(bytes)
}

fn content(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return None;
    }
    let (file, _) = named_file::open(path, Links::Refuse).ok()?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns whether a file holds what a commit holds. Ends of lines may differ by the user's settings.
fn is_same(before: &[u8], now: &[u8]) -> bool {
    let plain = |bytes: &[u8]| -> Vec<u8> {
        let bytes = bytes.iter().copied();
        bytes.filter(|byte| *byte != b'\r').collect()
    };
    before == now || before.starts_with(POINTER) || plain(before) == plain(now)
}
