//! What a repository says about the past: its commits with their files, and what is ignored.

use std::path::Path;
use std::time::Instant;

use checkpoint::lookback::Commit;
use journal::Timestamp;

use super::command::{Git, Output, words};
use super::listing::{self, Listing};
use super::request::Bounds;
use super::view::View;
use super::{head, parse};

/// The most commits that are read.
const COMMITS_MAX: usize = 50_000;
/// The most ignored files and folders that are read.
const IGNORED_MAX: usize = 5_000;

/// Returns the commits of all branches since a time, the newest first, merges left out. Empty if git cannot say.
pub fn commits_since(top: &Path, since: Timestamp, bounds: Bounds) -> Vec<Commit> {
    let second = head::second(since);
    let call = words(&format!(
        "log -z --format=tformat:%x01%ct --name-only --all --no-merges --no-renames --no-relative --no-ext-diff \
         --no-textconv -O/dev/null --max-count={COMMITS_MAX} --max-age={second} --"
    ));
    let answer = answer(top, call, bounds).filter(Output::is_good);
    let commits = answer.iter().flat_map(|log| parse::commits(&log.stdout));
    commits.map(commit).collect()
}

fn commit((second, files): (String, Vec<&[u8]>)) -> Commit {
    let second: i64 = second.parse().unwrap_or_default();
    Commit {
        at: Timestamp::from_micros(second.saturating_mul(1_000_000)),
        files: files.into_iter().map(lossy).collect(),
    }
}

/// Returns the files and folders, which end with `/`, that the repository ignores today.
pub fn ignored(top: &Path, bounds: Bounds) -> Vec<String> {
    let call = words("ls-files -z --others --ignored --exclude-standard --directory --");
    let answer = answer(top, call, bounds).filter(Output::is_good);
    let names = answer.iter().flat_map(|names| parse::names(&names.stdout));
    names.take(IGNORED_MAX).map(lossy).collect()
}

/// Lists the files of the index whose path matches one of `patterns`. Empty and not complete if git cannot say.
pub fn listed(top: &Path, patterns: &[&str], bounds: Bounds) -> Listing {
    let answer = answer(top, listing::call(patterns), bounds);
    answer.map_or_else(Listing::default, |output| listing::read(&output))
}

fn answer(top: &Path, call: Vec<String>, bounds: Bounds) -> Option<Output> {
    let deadline = Instant::now() + bounds.within;
    let view = View::open(&Git::default(), top, deadline).ok()?;
    view.run(&[call], deadline).ok()?.pop()
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_their_files() {
        let text = b"\x01200\0\0\x01150\0\nsrc/a b.rs\0docs/x.md\0\x01100\0\nc\0";
        let commits = parse::commits(text);
        let shown: Vec<_> = commits
            .into_iter()
            .map(commit)
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
