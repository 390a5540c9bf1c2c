//! What a repository says about the past: its commits with their files, and what is ignored.

use std::path::Path;
use std::time::Instant;

use checkpoint::lookback::Commit;
use journal::Timestamp;

use super::bounds::Bounds;
use super::command::{Git, Output, words};
use super::listing::{self, Listing};
use super::parse;
use super::view::View;

/// The most commits that are read.
const COMMITS_MAX: usize = 50_000;
/// The most ignored files and folders that are read.
const IGNORED_MAX: usize = 5_000;

/// Returns the commits of all branches since a time, the newest first, merges left out. Empty if git cannot say.
pub fn commits_since(top: &Path, since: Timestamp, bounds: Bounds) -> Vec<Commit> {
    let second = since.as_micros().div_euclid(1_000_000).max(0);
    let call = words(&format!(
        "log -z --format=tformat:%x01%ct --name-only --all --no-merges --no-renames --no-relative --no-ext-diff \
         --no-textconv -O/dev/null --max-count={COMMITS_MAX} --max-age={second} --"
    ));
    read_commits(&answer(top, call, bounds).unwrap_or_default())
}

/// Reads a time after a mark for each commit, and then the names of its files.
fn read_commits(bytes: &[u8]) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    for part in parse::names(bytes) {
        let part = String::from_utf8_lossy(part);
        if let Some(second) = part.strip_prefix('\u{1}') {
            let second: i64 = second.trim().parse().unwrap_or_default();
            commits.push(Commit {
                at: Timestamp::from_micros(second.saturating_mul(1_000_000)),
                files: Vec::new(),
            });
        } else if let Some(commit) = commits.last_mut() {
            // The first name follows the end of the line before it.
            commit.files.push(part.trim_start_matches('\n').to_owned());
        }
    }
    commits
}

/// Returns the files and folders, which end with `/`, that the repository ignores today.
pub fn ignored(top: &Path, bounds: Bounds) -> Vec<String> {
    let call = words("ls-files -z --others --ignored --exclude-standard --directory --");
    let answer = answer(top, call, bounds).unwrap_or_default();
    let names = parse::names(&answer).take(IGNORED_MAX);
    names
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

fn answer(top: &Path, call: Vec<String>, bounds: Bounds) -> Option<Vec<u8>> {
    if !top.is_absolute() || !top.is_dir() {
        return None;
    }
    let deadline = Instant::now() + bounds.within;
    let output = asked(top, call, deadline)?;
    output.is_good().then_some(output.stdout)
}

/// Lists the files of the index whose path matches one of `patterns`. Empty and not complete if git cannot say.
pub fn listed(top: &Path, patterns: &[&str], bounds: Bounds) -> Listing {
    let deadline = Instant::now() + bounds.within;
    let output = asked(top, listing::call(patterns), deadline);
    output.map_or_else(Listing::default, |output| listing::read(&output))
}

fn asked(cwd: &Path, call: Vec<String>, deadline: Instant) -> Option<Output> {
    let view = View::open(&Git::default(), cwd, deadline).ok()?;
    view.run(&[call], deadline).ok()?.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_their_files() {
        let text = b"\x01200\0\0\x01150\0\nsrc/a b.rs\0docs/x.md\0\x01100\0\nc\0";
        let commits = read_commits(text);
        let shown: Vec<_> = commits
            .iter()
            .map(|commit| (commit.at.as_micros() / 1_000_000, commit.files.join(",")))
            .collect();
        assert_eq!(
            shown,
            [
                (200, String::new()),
                (150, "src/a b.rs,docs/x.md".to_owned()),
                (100, "c".to_owned())
            ]
        );
    }
}
