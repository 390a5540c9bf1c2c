//! Which commits count as changes of the turn if it is known where HEAD was (spec FILES-4).

use std::path::Path;

use super::Change;
use super::support::*;
use crate::git::head::{NOT_KNOWN_HERE, head_with};
use crate::git::{Request, Tree, inspect_with};

/// Name of the case, the state before the turn, what the turn does, and the expected paths.
const CASES: &[(&str, Change, Change, &[&str])] = &[
    (
        "committed in the second before the prompt",
        |repo| repo.write("new", "").commit_at(TURN),
        |repo| repo,
        &[],
    ),
    (
        "committed in the same second, before and after",
        |repo| repo.write("old", "").commit_at(TURN),
        |repo| repo.write("new", "").commit_at(TURN),
        &["new"],
    ),
    (
        "committed, and more",
        |repo| repo,
        |repo| repo.write("a", "").commit_at(AFTER).write("b", ""),
        &["a", "b"],
    ),
    (
        "committed with a date before the turn",
        |repo| repo.write("old", "").commit_at(BEFORE),
        |repo| repo.write("a", "").commit_at(BEFORE),
        &["a"],
    ),
    (
        "committed and put back",
        |repo| repo,
        |repo| {
            repo.write("kept", "new")
                .commit_at(AFTER)
                .write("kept", "kept\n")
                .commit_at(AFTER)
        },
        &[],
    ),
    (
        "amended",
        |repo| repo.write("old", "").commit_at(BEFORE),
        |repo| {
            repo.write("more", "").git(&["add", "-A"]);
            repo.git_at(AFTER, &["commit", "-q", "--amend", "--no-edit"])
        },
        &["more"],
    ),
    (
        "only another message",
        |repo| repo.write("old", "").commit_at(BEFORE),
        |repo| repo.git_at(AFTER, &["commit", "-q", "--amend", "-m", "two"]),
        &[],
    ),
    (
        "squashed",
        |repo| {
            repo.write("a", "")
                .commit_at(BEFORE)
                .write("b", "")
                .commit_at(BEFORE)
        },
        |repo| {
            repo.git(&["reset", "-q", "--soft", "HEAD~2"])
                .git_at(AFTER, &["commit", "-q", "-m", "both"])
        },
        &[],
    ),
    (
        "rebased",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("mine", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("theirs", "")
                .commit_at(TURN)
                .git(&["checkout", "-q", "side"])
        },
        |repo| repo.git_at(AFTER, &["rebase", "-q", "main"]),
        &[],
    ),
    (
        "rebased with a conflict that the turn resolved",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("kept", "mine\n")
                .write("mine", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("kept", "theirs\n")
                .commit_at(BEFORE)
                .git(&["checkout", "-q", "side"])
        },
        |repo| {
            setup(&repo.home(), &repo.top, AFTER, &["rebase", "-q", "main"]);
            repo.write("kept", "both\n").git(&["add", "-A"]);
            repo.git_at(AFTER, &["rebase", "--continue"])
        },
        &["kept"],
    ),
    (
        "merged, with work of the same second",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("old", "")
                .commit_at(TURN);
            repo.git(&["checkout", "-q", "main"])
                .write("kept", "2")
                .commit_at(BEFORE)
        },
        |repo| repo.git_at(AFTER, &["merge", "-q", "--no-edit", "side"]),
        &[],
    ),
    (
        "merged with a conflict that the turn resolved",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("kept", "1")
                .write("old", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("kept", "2")
                .commit_at(BEFORE)
        },
        |repo| {
            setup(&repo.home(), &repo.top, AFTER, &["merge", "side"]);
            repo.write("kept", "3").commit_at(AFTER)
        },
        &["kept"],
    ),
    (
        "pulled",
        |repo| {
            let theirs = repo.beside("theirs");
            let theirs = theirs.to_str().unwrap();
            repo.git(&["clone", "-q", ".", theirs])
                .git(&["remote", "add", "origin", theirs]);
            std::fs::write(Path::new(theirs).join("pulled"), "").unwrap();
            for arguments in [["add", "-A"].as_slice(), &["commit", "-q", "-m", "x"]] {
                setup(&repo.home(), Path::new(theirs), BEFORE, arguments);
            }
            repo
        },
        |repo| repo.git_at(AFTER, &["pull", "-q", "--no-rebase", "origin", "main"]),
        &[],
    ),
    (
        "another branch",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("old", "")
                .commit_at(TURN)
                .git(&["pack-refs", "--all"])
                .git(&["checkout", "-q", "main"])
        },
        |repo| repo.git(&["checkout", "-q", "side"]),
        &[],
    ),
    (
        "another branch, and a commit there",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("old", "")
                .commit_at(TURN)
                .git(&["checkout", "-q", "--detach", "main"])
        },
        |repo| {
            repo.git(&["checkout", "-q", "side"])
                .write("new", "")
                .commit_at(AFTER)
        },
        &["new"],
    ),
    (
        "a tag of the same second",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("old", "")
                .commit_at(TURN)
                .git(&["tag", "mark"])
                .git(&["checkout", "-q", "main"])
                .git(&["branch", "-q", "-D", "side"])
        },
        |repo| repo.git_at(AFTER, &["merge", "-q", "mark"]),
        &[],
    ),
    (
        "reset to an older commit",
        |repo| repo.write("new", "").commit_at(TURN),
        |repo| repo.git(&["reset", "-q", "--hard", "HEAD~1"]),
        &[],
    ),
];

fn wanted_from(repo: &Repo, cwd: &Path) -> Request {
    let head = head_with(&bare_git(&repo.home()), cwd, turn().unwrap(), BOUNDS.within);
    Request {
        head: Some(head.expect("git answers")),
        ..wanted(turn())
    }
}

fn inspected(repo: &Repo, cwd: &Path, wanted: &Request) -> Tree {
    inspect_with(&bare_git(&repo.home()), cwd, wanted, BOUNDS)
}

#[test]
fn commits_count_from_where_head_was() {
    for (name, before, change, expected) in CASES {
        let repo = Repo::new();
        before(&repo);
        let wanted = wanted_from(&repo, &repo.top);
        change(&repo);
        let tree = inspected(&repo, &repo.top, &wanted);
        assert_eq!(paths(&tree), *expected, "{name}");
        assert_eq!(tree.committed, !expected.is_empty(), "{name}");
        assert_eq!(tree.notes, [""; 0], "{name}");
    }
}

#[test]
fn before_the_first_commit_there_is_nothing_to_leave_out() {
    let repo = Repo::empty();
    let wanted = wanted_from(&repo, &repo.top);
    assert_eq!(wanted.head.as_ref().unwrap().commit, None);
    repo.write("a", "").commit_at(AFTER);
    assert_eq!(paths(&inspected(&repo, &repo.top, &wanted)), ["a"]);
}

#[test]
fn a_work_tree_that_the_turn_made_has_its_commits_from_where_head_was() {
    let repo = Repo::new();
    repo.write("old", "").commit_at(TURN);
    let wanted = wanted_from(&repo, &repo.top.join("lib"));
    let linked = repo.beside("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    std::fs::write(linked.join("new"), "").unwrap();
    for arguments in [["add", "-A"].as_slice(), &["commit", "-q", "-m", "x"]] {
        setup(&repo.home(), &linked, AFTER, arguments);
    }
    let tree = inspected(&repo, &linked, &wanted);
    assert_eq!((paths(&tree), tree.notes), (vec!["new".to_owned()], vec![]));
}

#[test]
fn in_another_repository_commits_count_by_their_time() {
    let (repo, other) = (Repo::new(), Repo::new());
    repo.write("differs", "").commit_at(BEFORE);
    let wanted = wanted_from(&repo, &repo.top);
    other.write("new", "").commit_at(AFTER);
    let tree = inspected(&other, &other.top, &wanted);
    assert_eq!(
        (paths(&tree), tree.notes),
        (vec!["new".to_owned()], vec![NOT_KNOWN_HERE.to_owned()])
    );
}

#[test]
fn manifests_are_compared_with_where_head_was() {
    let repo = Repo::new();
    repo.write("package.json", r#"{"dependencies": {"a": "1"}}"#)
        .commit_at(TURN);
    let wanted = wanted_from(&repo, &repo.top);
    repo.write(
        "package.json",
        r#"{"version": "2", "dependencies": {"a": "1"}}"#,
    )
    .commit_at(AFTER);
    let tree = inspected(&repo, &repo.top, &wanted);
    assert_eq!(tree.files.same_dependencies, ["package.json"]);
}

#[test]
fn a_folder_without_a_repository_has_no_head() {
    let repo = Repo::new();
    let git = bare_git(&repo.home());
    let at = turn().unwrap();
    assert_eq!(head_with(&git, &repo.home(), at, BOUNDS.within), None);
    assert_eq!(head_with(&git, Path::new(""), at, BOUNDS.within), None);
}
