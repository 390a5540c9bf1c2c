//! The names of the changed files alone, without what they hold.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::answers::Answers;
use super::before::Reader;
use super::command::{Git, Output};
use super::request::{Bounds, Request};
use super::view::View;
use super::{head, parse};

/// The changed files of a work tree.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The top folder.
    pub(crate) top: PathBuf,
    /// Their paths, relative to the top folder, as git gave them; sorted.
    pub(crate) paths: Vec<Vec<u8>>,
    /// There are more.
    pub(crate) is_cut: bool,
}

/// Returns the files that `inspect` would find; `None` if git gives no answer in time.
pub(crate) fn changed(cwd: &Path, wanted: &Request, bounds: Bounds) -> Option<Changed> {
    let deadline = Instant::now() + bounds.within;
    let view = View::open(&Git::default(), cwd, deadline).ok()?;
    let answers = Answers::ask(&mut Reader::new(&view), wanted, deadline).ok()?;
    let (status, log) = (&answers.status, answers.log.as_ref());
    let answer = parse::status(&status.stdout);
    if !status.is_good() || !answer.answered {
        return None;
    }
    let top = view.found.top.as_path();
    let mut committed = commits(log, answer.unborn, &mut Vec::new());
    let before = head::commit_at_top(wanted.head.as_ref(), top);
    head::keep_changed(&view, before, &mut committed, deadline);
    let mut paths = answer.paths;
    paths.extend(committed);
    paths.sort_unstable();
    paths.dedup();
    let is_cut =
        status.is_cut || log.is_some_and(|log| log.is_cut) || paths.len() > bounds.files_max;
    paths.truncate(bounds.files_max);
    Some(Changed {
        top: top.to_owned(),
        paths: paths.into_iter().map(<[u8]>::to_vec).collect(),
        is_cut,
    })
}

/// Returns the files of the turn's commits.
pub(super) fn commits<'a>(
    log: Option<&'a Output>,
    is_unborn: bool,
    notes: &mut Vec<String>,
) -> Vec<&'a [u8]> {
    match log {
        Some(log) if log.is_good() => parse::names(&log.stdout).collect(),
        // `git log` fails in a repository without commits.
        Some(log) if !is_unborn => {
            notes.push(format!(
                "git log: {}; commits of this turn are not counted",
                log.complaint()
            ));
            Vec::new()
        }
        _ => Vec::new(),
    }
}
