//! Every kind of change of a work tree, compared with what git itself lists.

use std::os::unix::fs::symlink;

use super::Change;
use super::support::*;

/// Name of the case, the change, and the expected paths.
const CHANGES: &[(&str, Change, &[&str])] = &[
    ("nothing", |repo| repo, &[]),
    ("modified", |repo| repo.write("kept", "new"), &["kept"]),
    (
        "staged",
        |repo| repo.write("kept", "new").git(&["add", "-A"]),
        &["kept"],
    ),
    (
        "staged and modified",
        |repo| {
            repo.write("kept", "1")
                .git(&["add", "-A"])
                .write("kept", "2")
        },
        &["kept"],
    ),
    (
        "same content, new time",
        |repo| repo.write("kept", "kept\n"),
        &[],
    ),
    (
        "untracked",
        |repo| repo.write("new", "").write("a/b/c", ""),
        &["a/b/c", "new"],
    ),
    (
        "ignored",
        |repo| repo.write(".gitignore", "*.log").write("x.log", ""),
        &[".gitignore"],
    ),
    ("deleted", |repo| repo.remove("kept"), &["kept"]),
    (
        "deleted in the index",
        |repo| repo.git(&["rm", "-q", "kept"]),
        &["kept"],
    ),
    (
        "untracked again",
        |repo| repo.git(&["rm", "-q", "--cached", "kept"]),
        &["kept"],
    ),
    (
        "added, then deleted",
        |repo| repo.write("new", "").git(&["add", "new"]).remove("new"),
        &[],
    ),
    (
        "meant to be added",
        |repo| repo.write("new", "x").git(&["add", "-N", "new"]),
        &["new"],
    ),
    (
        "renamed",
        |repo| repo.git(&["mv", "lib/code.rs", "z.rs"]),
        &["lib/code.rs", "z.rs"],
    ),
    (
        "renamed by settings",
        |repo| {
            repo.git(&["config", "status.renames", "copies"])
                .git(&["mv", "kept", "moved"])
        },
        &["kept", "moved"],
    ),
    ("mode", |repo| repo.executable("kept"), &["kept"]),
    (
        "type",
        |repo| {
            repo.remove("kept");
            symlink("lib/code.rs", repo.top.join("kept")).unwrap();
            repo
        },
        &["kept"],
    ),
    (
        "file to folder",
        |repo| repo.remove("kept").write("kept/in", ""),
        &["kept", "kept/in"],
    ),
    (
        "conflict",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "other"])
                .write("kept", "theirs")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("kept", "ours")
                .commit_at(BEFORE);
            assert!(
                !setup(&repo.home(), &repo.top, BEFORE, &["merge", "other"])
                    .status
                    .success()
            );
            repo
        },
        &["kept"],
    ),
    (
        "detached",
        |repo| {
            repo.git(&["checkout", "-q", "--detach"])
                .write("kept", "new")
        },
        &["kept"],
    ),
    (
        "a repository inside",
        |repo| repo.git(&["init", "-q", "in side"]).write("in side/x", ""),
        // Git does not look into a repository that has no commit as one folder.
        &["in side"],
    ),
];

#[test]
fn agrees_with_git_on_every_kind_of_change() {
    for (name, change, expected) in CHANGES {
        let repo = Repo::new();
        change(&repo);
        assert_eq!(repo.checked_paths(), *expected, "{name}");
    }
}
