//! Which commits count as changes of the turn.

use super::Change;
use super::support::*;

/// Name of the case, the change, and the expected paths.
const COMMITS: &[(&str, Change, &[&str])] = &[
    (
        "before",
        |repo| repo.write("new", "").commit_at(TURN - 1),
        &[],
    ),
    (
        "in the same second",
        |repo| repo.write("new", "").commit_at(TURN),
        &["new"],
    ),
    (
        "after",
        |repo| repo.write("new", "").commit_at(AFTER),
        &["new"],
    ),
    (
        "after, and more",
        |repo| repo.write("a", "").commit_at(AFTER).write("b", ""),
        &["a", "b"],
    ),
    (
        "renamed",
        |repo| repo.git(&["mv", "kept", "moved"]).commit_at(AFTER),
        &["kept", "moved"],
    ),
    (
        "removed",
        |repo| repo.remove("kept").commit_at(AFTER),
        &["kept"],
    ),
    (
        "amended",
        |repo| {
            repo.write("new", "")
                .commit_at(BEFORE)
                .write("more", "")
                .git(&["add", "-A"]);
            repo.git_at(AFTER, &["commit", "-q", "--amend", "--no-edit"])
        },
        &["more", "new"],
    ),
    (
        "rebased",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("mine", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("theirs", "")
                .commit_at(BEFORE);
            repo.git_at(AFTER, &["rebase", "-q", "main", "side"])
        },
        &["mine"],
    ),
    (
        "merged: only what the merge itself changed",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("kept", "1")
                .write("old", "")
                .commit_at(BEFORE);
            repo.git(&["checkout", "-q", "main"])
                .write("kept", "2")
                .commit_at(BEFORE);
            assert!(
                !setup(&repo.home(), &repo.top, AFTER, &["merge", "side"])
                    .status
                    .success()
            );
            repo.write("kept", "3").commit_at(AFTER)
        },
        &["kept"],
    ),
    (
        "merged: commits of the turn",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("side", "")
                .commit_at(AFTER);
            repo.git(&["checkout", "-q", "main"])
                .write("main", "")
                .commit_at(AFTER);
            repo.git_at(AFTER, &["merge", "-q", "--no-edit", "side"])
        },
        &["main", "side"],
    ),
    (
        "on a branch that is not here",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"])
                .write("side", "")
                .commit_at(AFTER);
            repo.git(&["checkout", "-q", "main"])
        },
        &[],
    ),
    (
        "settings that change git's output",
        |repo| {
            repo.write("lib/new", "")
                .commit_at(AFTER)
                .write("untracked", "");
            for (name, value) in [
                ("diff.relative", "true"),
                ("diff.orderFile", "/nowhere"),
                ("diff.external", "/bin/false"),
                ("format.pretty", "fuller"),
                ("log.showSignature", "true"),
                ("log.follow", "true"),
                ("status.showUntrackedFiles", "no"),
                ("status.short", "true"),
                ("status.showStash", "true"),
                ("color.ui", "always"),
                ("core.pager", "/bin/false"),
                ("core.fsmonitor", "/bin/false"),
            ] {
                repo.git(&["config", name, value]);
            }
            repo
        },
        &["lib/new", "untracked"],
    ),
];

#[test]
fn commits_count_from_the_second_in_which_the_turn_began() {
    for (name, change, expected) in COMMITS {
        let repo = Repo::new();
        change(&repo);
        let tree = repo.inspect(turn());
        assert_eq!(paths(&tree), *expected, "{name}");
        assert_eq!(tree.notes, [""; 0], "{name}");
    }
}

#[test]
fn the_first_commit_of_all_counts() {
    let repo = Repo::empty();
    repo.git(&["config", "log.showRoot", "false"])
        .write("a", "")
        .commit_at(AFTER);
    assert_eq!(paths(&repo.inspect(turn())), ["a"]);
}
