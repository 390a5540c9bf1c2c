//! Commits that the turn made and left count by what they hold.

use std::path::Path;

use checkpoint::digest;
use journal::Timestamp;

use super::Change;
use super::support::*;
use crate::git::head::head_with;
use crate::git::{Request, inspect_with};

/// Makes a bare repository to push to.
fn with_origin(repo: &Repo) -> &Repo {
    let origin = repo.beside("origin.git");
    let origin = origin.to_str().unwrap();
    repo.git(&["init", "-q", "--bare", origin])
        .git(&["remote", "add", "origin", origin])
        .git(&["push", "-q", "origin", "main"])
}

/// Commits in a linked work tree, pushes with these words, and removes it.
fn in_linked<'r>(repo: &'r Repo, add: &[&str], push: &[&str]) -> &'r Repo {
    let linked = repo.beside("linked");
    let path = linked.to_str().unwrap();
    repo.git(&[&["worktree", "add", "-q"], add, &[path]].concat());
    std::fs::write(linked.join("new"), "made\n").unwrap();
    let calls: [&[&str]; 3] = [&["add", "-A"], &["commit", "-q", "-m", "x"], push];
    for call in calls {
        assert!(setup(&repo.home(), &linked, AFTER, call).status.success());
    }
    repo.git(&["worktree", "remove", path])
}

/// Name of the case, the state before the turn, what the turn does, and the expected paths.
const CASES: &[(&str, Change, Change, &[&str])] = &[
    (
        "a branch, pushed and left",
        with_origin,
        |repo| {
            repo.git(&["checkout", "-q", "-b", "feat"])
                .write("new", "made\n")
                .commit_at(AFTER)
                .git_at(AFTER, &["push", "-q", "-u", "origin", "feat"])
                .git(&["checkout", "-q", "main"])
        },
        &["new"],
    ),
    (
        "without a branch, pushed and left",
        with_origin,
        |repo| {
            repo.git(&["checkout", "-q", "--detach"])
                .write("new", "made\n")
                .commit_at(AFTER)
                .git_at(AFTER, &["push", "-q", "origin", "HEAD:refs/heads/feat"])
                .git_at(AFTER, &["checkout", "-q", "main"])
        },
        &["new"],
    ),
    (
        "a linked work tree that is gone",
        with_origin,
        |repo| in_linked(repo, &["-b", "feat"], &["push", "-q", "origin", "feat"]),
        &["new"],
    ),
    (
        "a linked work tree without a branch that is gone",
        with_origin,
        |repo| {
            in_linked(
                repo,
                &["--detach"],
                &["push", "-q", "origin", "HEAD:refs/heads/feat"],
            )
        },
        &["new"],
    ),
    (
        "fetched: others made it",
        |repo| {
            with_origin(repo);
            let theirs = repo.beside("theirs");
            let origin = repo.beside("origin.git");
            let clone = [
                "clone",
                "-q",
                origin.to_str().unwrap(),
                theirs.to_str().unwrap(),
            ];
            repo.git(&clone);
            std::fs::write(theirs.join("theirs"), "").unwrap();
            let calls: [&[&str]; 3] = [
                &["add", "-A"],
                &["commit", "-q", "-m", "x"],
                &["push", "-q", "origin", "HEAD:refs/heads/theirs"],
            ];
            for call in calls {
                assert!(setup(&repo.home(), &theirs, AFTER, call).status.success());
            }
            repo
        },
        |repo| repo.git_at(AFTER, &["fetch", "-q", "origin"]),
        &[],
    ),
    (
        "another branch, rebased",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("mine", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("theirs", "")
                .commit_at(BEFORE)
        },
        |repo| {
            repo.git_at(AFTER, &["rebase", "-q", "main", "side"])
                .git_at(AFTER, &["checkout", "-q", "main"])
        },
        &[],
    ),
    (
        "put into the work tree, too",
        |repo| repo,
        |repo| {
            repo.git(&["checkout", "-q", "-b", "feat"])
                .write("new", "made\n")
                .commit_at(AFTER)
                .git(&["checkout", "-q", "main"])
                .git_at(AFTER, &["merge", "-q", "--squash", "feat"])
                .git_at(AFTER, &["commit", "-q", "-m", "squashed"])
        },
        &["new"],
    ),
];

#[test]
fn what_the_turn_committed_and_left_counts_by_its_content() {
    for (name, before, change, expected) in CASES {
        let repo = Repo::new();
        before(&repo);
        let git = bare_git(&repo.home());
        let head = head_with(&git, &repo.top, turn().unwrap(), BOUNDS.within);
        let wanted = Request {
            head: Some(head.unwrap()),
            ..wanted(turn())
        };
        change(&repo);
        let look = |wanted: &Request| inspect_with(&git, &repo.top, wanted, BOUNDS);
        let tree = look(&wanted);
        assert_eq!(paths(&tree), *expected, "{name}");
        for file in files(&tree) {
            assert_eq!(file.hash, Some(digest::of_text("made\n")), "{name}");
        }
        // Nobody says when the turn wrote: nothing that others did meanwhile is its own.
        let outside = Request {
            spans: Some(vec![(Timestamp::from_micros(0), Timestamp::from_micros(1))]),
            ..wanted
        };
        let is_here = Path::new(&repo.top).join("new").exists();
        assert_eq!(paths(&look(&outside)).is_empty(), !is_here, "{name}");
    }
}
