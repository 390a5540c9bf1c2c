//! The files that calls name come first, and count by their content where git sees no change.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::Change;
use super::support::*;
use crate::git::{Bounds, Named, Request, Tree, inspect_with};

fn inspected(repo: &Repo, edited: &[&[u8]], files_max: usize) -> Tree {
    let at = |path: &&[u8]| repo.top.join(OsStr::from_bytes(path));
    let edited: Vec<PathBuf> = edited.iter().map(at).collect();
    let wanted = Request {
        named: Named {
            edited,
            written: vec!["cache/7".into()],
        },
        ..wanted(None)
    };
    let bounds = Bounds {
        files_max,
        ..BOUNDS
    };
    inspect_with(&bare_git(&repo.home()), &repo.top, &wanted, bounds)
}

/// Name of the case, the change, the edited files, and the expected paths.
type Case = (
    &'static str,
    Change,
    &'static [&'static [u8]],
    &'static [&'static str],
);

const UNSEEN: &[Case] = &[
    (
        "assumed to be unchanged",
        |repo| {
            repo.git(&["update-index", "--assume-unchanged", "kept"])
                .write("kept", "new")
        },
        &[b"kept"],
        &["kept"],
    ),
    (
        "skipped",
        |repo| {
            repo.git(&["update-index", "--skip-worktree", "kept"])
                .write("kept", "new")
        },
        &[b"kept"],
        &["kept"],
    ),
    (
        "assumed, and nobody says that it was edited",
        |repo| {
            repo.git(&["update-index", "--assume-unchanged", "kept"])
                .write("kept", "new")
        },
        &[],
        &[],
    ),
    (
        "put back",
        |repo| repo.write("kept", "kept\n"),
        &[b"kept"],
        &[],
    ),
    (
        "other ends of lines",
        |repo| {
            repo.git(&["config", "core.autocrlf", "true"])
                .git(&["update-index", "--assume-unchanged", "kept"])
                .write("kept", "kept\r\n")
        },
        &[b"kept"],
        &[],
    ),
    (
        "ignored",
        |repo| repo.write(".git/info/exclude", "x.log").write("x.log", ""),
        &[b"x.log"],
        &[],
    ),
];

#[test]
fn an_edited_file_counts_by_its_content() {
    for (name, change, edited, expected) in UNSEEN {
        let repo = Repo::new();
        change(&repo);
        assert_eq!(paths(&inspected(&repo, edited, 100)), *expected, "{name}");
    }
}

#[test]
fn a_limit_leaves_out_what_no_call_names_and_untracked_files_first() {
    let repo = Repo::new();
    for number in 0..20 {
        repo.write(&format!("cache/{number}"), "");
    }
    repo.write("z.py", "x").write("kept", "new");
    repo.write_raw(b"caf\xe9.py", "x");
    let tree = inspected(&repo, &[b"z.py", b"caf\xe9.py"], 4);
    assert_eq!(paths(&tree), ["cache/7", "caf\u{fffd}.py", "kept", "z.py"]);
    assert_eq!(tree.notes, ["git: 23 files changed; only 4 count"]);
    // The times are those of the true name.
    assert!(files(&tree).iter().all(|file| file.hash.is_some()));
    let times = tree.times["caf\u{fffd}.py"];
    assert_eq!(times.of, checkpoint::whose::TimesOf::File);
}

#[test]
fn linked_work_trees_inside_are_not_files_of_this_one() {
    let repo = Repo::new();
    let add = ["worktree", "add", "-q", "-b", "x", ".claude/worktrees/x"];
    repo.git(&add).write(".claude/worktrees/x/new", "");
    assert_eq!(paths(&repo.inspect(None)), [""; 0]);
    repo.write(".claude/worktrees/xy", "");
    assert_eq!(paths(&repo.inspect(None)), [".claude/worktrees/xy"]);
    let inside = repo.top.join(".claude/worktrees/x");
    let tree = inspect_with(&bare_git(&repo.home()), &inside, &wanted(None), BOUNDS);
    assert_eq!(paths(&tree), ["new"]);
}
