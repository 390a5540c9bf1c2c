//! Files of a work tree by their names, whether they changed or not.

use std::path::Path;
use std::sync::Arc;

use super::command::{Output, words};
use super::mark::Mark;
use super::parse;
use journal::Timestamp;
use parking_lot::Mutex;

/// The most files that are listed.
const FILES_MAX: usize = 20_000;
/// The longest listing that is kept, in bytes.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// Files whose path matches a pattern, from the top of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Their paths; those that are not UTF-8 are left out.
    pub paths: Vec<String>,
    /// Whether these are all.
    pub complete: bool,
}

/// Returns the arguments that list the files of the index whose path matches one of `patterns`; `*` crosses folders.
pub(super) fn call(patterns: &[&str]) -> Vec<String> {
    let mut call = words("ls-files -z --full-name --");
    call.extend(patterns.iter().map(|pattern| format!(":(top){pattern}")));
    call
}

pub(super) fn read(output: &Output) -> Listing {
    let names = parse::names(&output.stdout).filter_map(|name| std::str::from_utf8(name).ok());
    let paths: Vec<String> = names.take(FILES_MAX).map(str::to_owned).collect();
    let complete = output.is_good() && !output.is_cut && paths.len() < FILES_MAX;
    Listing { paths, complete }
}

/// The last listing of a repository. It depends on the index alone: on other files only by names that say what they hold.
#[derive(Debug, Default)]
pub(super) struct Last(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    index: Mark,
    patterns: &'static [&'static str],
    listing: Arc<Listing>,
}

impl Last {
    /// Returns the listing if the index and the patterns are the same as then.
    pub(super) fn get(
        &self,
        index: &Path,
        patterns: &'static [&'static str],
    ) -> Option<Arc<Listing>> {
        let index = Mark::of(index)?;
        let last = self.0.lock();
        let kept = last.as_ref()?;
        let is_same = kept.index == index && kept.patterns == patterns;
        is_same.then(|| kept.listing.clone())
    }

    /// Keeps a listing that git was asked for at `began`.
    pub(super) fn keep(
        &self,
        index: &Path,
        patterns: &'static [&'static str],
        began: Timestamp,
        listing: &Arc<Listing>,
    ) {
        let bytes: usize = listing.paths.iter().map(String::len).sum();
        let is_kept = listing.complete && bytes <= KEPT_BYTES_MAX;
        let index = Mark::before(index, began).filter(|_| is_kept);
        *self.0.lock() = index.map(|index| Kept {
            index,
            patterns,
            listing: listing.clone(),
        });
    }
}
