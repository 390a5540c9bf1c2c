//! Which files a turn of the past changed, as far as is known: those of its edits, its shell writes and the commits that
//! fall into it (spec LOOK-3).

use std::collections::BTreeSet;

use journal::Timestamp;

use crate::transcript::turns::PastTurn;
use crate::whose;

/// A commit with its files, relative to the top of the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// When it was made, to the second.
    pub at: Timestamp,
    /// Its files.
    pub files: Vec<String>,
}

/// The commits of a repository, the newest first, and what it ignores.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// Its commits.
    pub commits: Vec<Commit>,
    /// Files and folders, which end with `/`, that it ignores.
    pub ignored: BTreeSet<String>,
}

impl Repository {
    fn ignores(&self, path: &str) -> bool {
        self.ignored.contains(path)
            || path
                .match_indices('/')
                .any(|(end, _)| self.ignored.contains(&path[..=end]))
    }

    /// Returns the commits between two times; the seconds of both count.
    fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = &Commit> {
        let second = |at: Timestamp| at.as_micros().div_euclid(1_000_000);
        let first = self
            .commits
            .partition_point(|commit| second(commit.at) > second(to));
        self.commits[first..]
            .iter()
            .take_while(move |commit| second(commit.at) >= second(from))
    }
}

/// Returns the files that a turn changed, relative to `top` and in order. `cwd` is where the agent ran.
pub fn changed(turn: &PastTurn, cwd: &str, top: &str, repository: &Repository) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut take = |path: &str| {
        let path = inside(path, cwd, top);
        files.extend(path.filter(|path| !path.starts_with(".git/") && !repository.ignores(path)));
    };
    let written = turn.facts.calls.iter().flat_map(whose::written);
    written.for_each(|path| take(&path));
    let commits = repository.between(turn.began, turn.ended);
    files.extend(commits.flat_map(|commit| commit.files.iter().cloned()));
    files
}

/// Returns a path relative to `top`; `None` if it is outside, or does not name a single file.
fn inside(path: &str, cwd: &str, top: &str) -> Option<String> {
    let is_vague = path.contains(['*', '?', '$', '`', '\n', '{']) || path.starts_with(['~', '-']);
    if is_vague || top.is_empty() {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    let start = if path.starts_with('/') { "" } else { cwd };
    for part in start.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let top = top.split('/').filter(|part| !part.is_empty());
    let mut parts = parts.into_iter();
    if !top.into_iter().all(|part| parts.next() == Some(part)) {
        return None;
    }
    let path = parts.collect::<Vec<_>>().join("/");
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use journal::{ToolCall, ToolKind};

    use super::*;
    use crate::transcript::Facts;

    fn call(kind: ToolKind, what: &str) -> ToolCall {
        let (command, paths) = match kind {
            ToolKind::Shell => (Some(what.to_owned()), Vec::new()),
            _ => (None, vec![what.to_owned()]),
        };
        ToolCall {
            kind,
            command,
            paths,
            finished: true,
            ..ToolCall::default()
        }
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    #[test]
    fn edits_writes_and_commits_of_the_turn_count() {
        let failed = ToolCall {
            is_error: true,
            ..call(ToolKind::Edit, "/p/shop/failed.rs")
        };
        let refused = ToolCall {
            refused: true,
            ..call(ToolKind::Write, "/p/shop/refused.rs")
        };
        let calls = vec![
            call(ToolKind::Edit, "/p/shop/src/a.rs"),
            call(ToolKind::Write, "b.rs"),
            call(ToolKind::Edit, "../lib/c.rs"),
            call(ToolKind::Write, "/tmp/note.md"),
            call(ToolKind::Write, "/p/shopping/no.rs"),
            call(ToolKind::Read, "/p/shop/read.rs"),
            call(ToolKind::Shell, "echo x > d.txt && cat d.txt"),
            call(ToolKind::Shell, "cargo build > target/log"),
            call(ToolKind::Shell, "echo $X > $OUT; ls > /dev/null"),
            failed,
            refused,
        ];
        let turn = PastTurn {
            facts: Facts {
                calls,
                ..Facts::default()
            },
            began: second(100),
            ended: second(200),
            interrupted: false,
        };
        let commit = |at, file: &str| Commit {
            at: second(at),
            files: vec![file.to_owned()],
        };
        let repository = Repository {
            commits: vec![
                commit(201, "later"),
                commit(200, "last"),
                commit(100, "first"),
                commit(99, "earlier"),
            ],
            ignored: BTreeSet::from(["api/target/".to_owned()]),
        };
        let files = changed(&turn, "/p/shop/api", "/p/shop", &repository);
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        assert_eq!(
            files,
            [
                "api/b.rs",
                "api/d.txt",
                "first",
                "last",
                "lib/c.rs",
                "src/a.rs"
            ]
        );
    }
}
