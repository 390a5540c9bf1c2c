//! The state of a work tree for progress documents (spec PROG-14): branch, last commit, uncommitted files, and the
//! distance to its upstream branch.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use checkpoint::progress::GitState;
use journal::{ChangedFile, Timestamp};

use super::command::{Failure, Git, words};
use super::contents::Contents;
use super::times::{self, FILE_TICK};
use super::view::{Closed, View};
use super::{head, parse, submodules};

/// The most files of commits listed.
const COMMITTED_MAX: usize = 500;
/// The most uncommitted files listed.
const UNCOMMITTED_MAX: usize = 500;

/// Asks git for the state of the work tree around `folder`. Blocks until `deadline` at most.
///
/// # Errors
///
/// One word: `not_a_repository`, `git_missing`, `timeout` or `git_failed`.
pub fn snapshot(folder: &Path, deadline: Instant) -> Result<GitState, String> {
    let calls = [
        words(
            "status --porcelain=v2 --branch --ahead-behind -z --untracked-files=all --no-renames \
             --ignore-submodules=dirty",
        ),
        words("log -1 -z --format=%H%x00%s --no-show-signature HEAD --"),
    ];
    let git = Git::default();
    let word = |failure| match failure {
        Failure::Missing => "git_missing",
        Failure::Timeout => "timeout",
        Failure::System(_) => "git_failed",
    };
    let view = View::open(&git, folder, deadline).map_err(|closed| match closed {
        Closed::Failed(failure) => word(failure),
        Closed::NoFolder | Closed::Refused { .. } => "not_a_repository",
    })?;
    let outputs = view.run(&calls, deadline).map_err(word)?;
    let [status, log] = outputs.as_slice() else {
        return Err("git_failed".into());
    };
    let answer = parse::status(&status.stdout);
    if !status.is_good() || !answer.answered {
        return Err("not_a_repository".into());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut said = log.stdout.split(|byte| *byte == 0).map(text);
    let commit = said.next().filter(|hash| log.is_good() && !hash.is_empty());
    let (ahead, behind) = parse::ahead_behind(&status.stdout);
    let mut uncommitted: Vec<_> = parse::changes(&status.stdout)
        .into_iter()
        .map(|(code, path)| (text(code), text(path)))
        .collect();
    let dirty = submodules::dirty(&git, &view, deadline, submodules::DEPTH_MAX).unwrap_or_default();
    let is_listed = |path: &Vec<u8>| uncommitted.iter().any(|(_, it)| *it == text(path));
    let unlisted: Vec<_> = dirty.into_iter().filter(|path| !is_listed(path)).collect();
    uncommitted.extend(unlisted.iter().map(|path| (".M".to_owned(), text(path))));
    uncommitted.sort_unstable_by(|one, other| one.1.cmp(&other.1));
    uncommitted.truncate(UNCOMMITTED_MAX);
    Ok(GitState {
        top: text(view.found.top.as_os_str().as_bytes()),
        branch: answer.branch.map(text),
        subject: said.next().filter(|_| commit.is_some()).unwrap_or_default(),
        commit,
        uncommitted,
        ahead,
        behind,
    })
}

/// Returns the files of the commits since a time, each with whether a commit created it. Nothing if git gives no answer
/// until `deadline`.
pub fn committed(folder: &Path, since: Timestamp, deadline: Instant) -> Vec<(String, bool)> {
    let second = head::second(since);
    let log = |filter: &str| {
        words(&format!(
            "log -z --format= --name-only {filter} --no-renames --no-relative --no-ext-diff --no-textconv -O/dev/null \
             --max-age={second} HEAD --"
        ))
    };
    let calls = [log("-c"), log("--diff-filter=A")];
    let outputs = View::open(&Git::default(), folder, deadline)
        .ok()
        .and_then(|view| view.run(&calls, deadline).ok());
    let Some([all, new]) = outputs.as_deref() else {
        return Vec::new();
    };
    if !all.is_good() {
        return Vec::new();
    }
    let new: BTreeSet<&[u8]> = parse::names(&new.stdout).collect();
    let all: BTreeSet<&[u8]> = parse::names(&all.stdout).collect();
    let named = |path: &[u8]| {
        let is_new = new.contains(path);
        (String::from_utf8_lossy(path).into_owned(), is_new)
    };
    all.into_iter().take(COMMITTED_MAX).map(named).collect()
}

/// Returns whether a file was written, moved or deleted since a time, as far as the times of files tell.
pub fn was_touched(path: &Path, since: Timestamp) -> bool {
    // Deleting a file changes its folder.
    let Some(meta) = path
        .ancestors()
        .find_map(|path| std::fs::symlink_metadata(path).ok())
    else {
        return true;
    };
    times::changed(&meta).plus(FILE_TICK) >= since
}

/// Returns each file with the hash of its content, or without one if it does not exist. Paths are absolute or relative to `top`.
/// For files that are too large, and after `deadline`, hashes the length and modification time instead of the content.
pub fn held<'a>(
    top: &Path,
    paths: impl Iterator<Item = &'a str>,
    deadline: Instant,
) -> Vec<ChangedFile> {
    let mut contents = Contents::new(top, deadline);
    let held = |path: &str| ChangedFile {
        hash: contents.hash(path.as_bytes()),
        path: path.to_owned(),
    };
    paths.map(held).collect()
}
