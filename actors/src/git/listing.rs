//! Files of a work tree by their names, whether they changed or not.

use super::command::{Output, words};
use super::parse;

/// The most files that are listed.
const FILES_MAX: usize = 20_000;

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
