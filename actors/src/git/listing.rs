//! Lists files of a work tree by their names, whether they changed or not.

use std::path::Path;
use std::time::Instant;

use super::Bounds;
use super::command::{Git, Output, words};
use super::parse;
use super::view::View;

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

/// Lists the files of the index whose path matches one of `patterns`; `*` crosses folders. Blocks for at most
/// `bounds.within`.
pub fn listed(cwd: &Path, patterns: &[&str], bounds: Bounds) -> Listing {
    if !cwd.is_absolute() || !cwd.is_dir() {
        return Listing::default();
    }
    let mut call = words("ls-files -z --full-name --");
    call.extend(patterns.iter().map(|pattern| format!(":(top){pattern}")));
    let deadline = Instant::now() + bounds.within;
    let Some(output) = asked(cwd, call, deadline) else {
        return Listing::default();
    };
    let names = parse::names(&output.stdout).filter_map(|name| std::str::from_utf8(name).ok());
    let paths: Vec<String> = names.take(FILES_MAX).map(str::to_owned).collect();
    let complete = output.is_good() && !output.is_cut && paths.len() < FILES_MAX;
    Listing { paths, complete }
}

/// Returns whether a Rust file below a folder has tests within it; true if that cannot be found out.
pub fn has_rust_tests(top: &Path, folder: &str, bounds: Bounds) -> bool {
    let mut call = words("grep -q -F --untracked -e #[test] -e #[cfg(test)] -e ::test] --");
    let folder = if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}/")
    };
    call.push(format!(":(top){folder}*.rs"));
    let deadline = Instant::now() + bounds.within;
    asked(top, call, deadline).is_none_or(|output| output.exit.code() != Some(1))
}

pub(super) fn asked(cwd: &Path, call: Vec<String>, deadline: Instant) -> Option<Output> {
    let view = View::open(&Git::default(), cwd, deadline).ok()?;
    view.run(&[call], deadline).ok()?.into_iter().next()
}
