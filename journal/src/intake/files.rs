//! The files of the log's folder.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Doing, Result};
use crate::named_file;

/// A segment is sealed at this size.
pub(crate) const SEGMENT_BYTES: u64 = 4 * 1024 * 1024;

/// The form of a segment's file. If a segment is there in two forms, the first of these counts: it has its name only once it
/// is complete, and the other one may come back after a power cut although it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Sealed in blocks.
    Sealed,
    Open,
}

impl Form {
    const ALL: [Self; 2] = [Self::Sealed, Self::Open];

    /// Returns the ending of the file's name.
    pub(crate) const fn ending(self) -> &'static str {
        match self {
            Self::Open => "log",
            Self::Sealed => "zst",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) first_seq: u64,
    pub(crate) form: Form,
    pub(crate) path: PathBuf,
}

impl Segment {
    /// Returns whether nothing is appended to it anymore, and it may be replaced.
    pub(crate) fn is_sealed(&self) -> bool {
        self.form != Form::Open
    }
}

/// Lists the segments of a folder, oldest first.
pub(crate) fn segments(dir: &Path) -> Result<Vec<Segment>> {
    let mut found = files(dir)?;
    found.dedup_by_key(|segment| segment.first_seq);
    Ok(found)
}

/// Removes a segment's file if the same segment has a newer form.
pub(crate) fn remove_superseded(dir: &Path) -> Result<()> {
    let found = files(dir)?;
    let superseded = found
        .windows(2)
        .filter(|two| two[0].first_seq == two[1].first_seq && two[0].form == Form::Sealed);
    for two in superseded {
        let path = &two[1].path;
        fs::remove_file(path).doing("remove", path)?;
    }
    Ok(())
}

fn files(dir: &Path) -> Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).doing("list", dir)? {
        let entry = entry.doing("list", dir)?;
        let path = entry.path();
        let text = |part: Option<&std::ffi::OsStr>| part?.to_str().map(str::to_owned);
        let ending = text(path.extension());
        let mut forms = Form::ALL.into_iter();
        let form = forms.find(|form| ending.as_deref() == Some(form.ending()));
        let first_seq = text(path.file_stem()).and_then(|stem| stem.parse().ok());
        if let (Some(form), Some(first_seq)) = (form, first_seq) {
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                named_file::put_strange_aside(&path).doing("set aside", &path)?;
                continue;
            }
            found.push(Segment {
                first_seq,
                form,
                path,
            });
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn create_private(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    named_file::open_own(path, &mut options).doing("create", path)
}

/// Writes a file durably: with this content, or as it was before.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let new = path.with_added_extension("new");
    let mut file = create_private(&new)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.doing("write", &new)?;
    fs::rename(&new, path).doing("move", &new)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Syncs a folder: makes new, renamed and removed names durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    let synced = File::open(dir).and_then(|file| file.sync_all());
    synced.doing("sync", dir)
}
