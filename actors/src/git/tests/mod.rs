//! The real git, on every kind of work tree that is known to differ.

mod attacks;
mod cached;
mod commits;
mod head;
mod held;
mod left;
mod named;
mod programs;
mod race;
mod refusals;
mod support;
mod view;
mod work_tree;

use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use checkpoint::digest;

use super::{Bounds, inspect_with};
use support::*;

/// Makes a change in a repository with `kept` and `lib/code.rs`.
type Change = fn(&Repo) -> &Repo;

#[test]
fn names_may_be_anything() {
    let repo = Repo::new();
    let names: [&[u8]; 9] = [
        b"-rf",
        b"a\nb",
        b"q\"uo'te",
        b" lead",
        b"trail ",
        b"tab\tdir/x",
        b"# branch.head x",
        b"\xff\xfe",
        "ü".as_bytes(),
    ];
    for name in names {
        repo.write_raw(name, "untracked");
    }
    let mut expected: Vec<String> = names
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    expected.sort();
    assert_eq!(repo.checked_paths(), expected);
    let tree = repo.inspect(None);
    assert!(
        files(&tree)
            .iter()
            .all(|file| file.hash == Some(digest::of_text("untracked")))
    );
    assert_eq!(tree.branch.as_deref(), Some("main"));
    // The same names from a commit.
    assert_eq!(paths(&repo.commit_at(AFTER).inspect(turn())), expected);
}

#[test]
fn two_names_that_read_the_same_are_one() {
    let repo = Repo::new();
    repo.write_raw(b"x\xff", "1").write_raw(b"x\xfe", "2");
    let tree = repo.inspect(None);
    assert_eq!(paths(&tree), ["x\u{fffd}"]);
    assert_eq!(hash_of(&tree, "x\u{fffd}"), Some(digest::of_text("2")));
}

#[test]
fn without_a_commit_everything_is_changed() {
    let repo = Repo::empty();
    assert_eq!(paths(&repo.inspect(turn())), [""; 0]);
    repo.write("staged", "")
        .git(&["add", "-A"])
        .write("new", "");
    let tree = repo.inspect(turn());
    assert_eq!(paths(&tree), ["new", "staged"]);
    assert_eq!((tree.branch.as_deref(), tree.notes), (Some("main"), vec![]));
}

#[test]
fn subfolders_and_worktrees_name_paths_from_the_top() {
    let repo = Repo::new();
    repo.write("lib/new.rs", "new").write("other", "");
    let git = bare_git(&repo.home());
    let tree = inspect_with(&git, &repo.top.join("lib"), &wanted(turn()), BOUNDS);
    assert_eq!(paths(&tree), ["lib/new.rs", "other"]);
    assert_eq!(hash_of(&tree, "lib/new.rs"), Some(digest::of_text("new")));

    let linked = repo.beside("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "topic/x",
        linked.to_str().unwrap(),
    ]);
    std::fs::write(linked.join("kept"), "changed").unwrap();
    let tree = inspect_with(&git, &linked.join("lib"), &wanted(turn()), BOUNDS);
    assert_eq!(
        (paths(&tree), tree.branch.as_deref()),
        (vec!["kept".to_owned()], Some("topic/x"))
    );
    assert_eq!(hash_of(&tree, "kept"), Some(digest::of_text("changed")));
}

#[test]
fn a_submodule_counts_as_its_path() {
    let inner = Repo::new();
    let repo = Repo::new();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.top.to_str().unwrap(),
        "sub",
    ])
    .commit_at(BEFORE);
    assert_eq!(repo.checked_paths(), [""; 0]);
    // New files alone are not among `git diff`'s changes.
    repo.write("sub/new", "");
    assert_eq!(repo.checked_paths(), [""; 0]);
    repo.write("sub/kept", "dirty");
    assert_eq!(repo.checked_paths(), ["sub"]);
    assert_eq!(hash_of(&repo.inspect(None), "sub"), None);
    setup(
        &repo.home(),
        &repo.top.join("sub"),
        AFTER,
        &["commit", "-qam", "x"],
    );
    assert_eq!(repo.checked_paths(), ["sub"]);
    repo.commit_at(AFTER);
    assert_eq!(paths(&repo.inspect(turn())), ["sub"]);
    // Seen from inside, it is a work tree like any other.
    let tree = inspect_with(
        &bare_git(&repo.home()),
        &repo.top.join("sub/lib"),
        &wanted(turn()),
        BOUNDS,
    );
    assert_eq!(paths(&tree), ["kept", "new"]);
}

#[test]
fn staged_content_counts_where_the_work_tree_was_put_back() {
    let repo = Repo::new();
    repo.write("kept", "new")
        .git(&["add", "-A"])
        .write("kept", "kept\n");
    // `git diff HEAD` does not list it; the index holds a change all the same.
    assert_eq!(paths(&repo.inspect(None)), ["kept"]);
}

#[test]
fn a_detached_head_has_no_branch() {
    let repo = Repo::new();
    assert_eq!(
        repo.git(&["checkout", "-q", "--detach"])
            .inspect(None)
            .branch,
        None
    );
}

#[test]
fn hashes_follow_the_content() {
    let repo = Repo::new();
    let large = "x".repeat(1024 * 1024 + 1);
    repo.write("small", "small")
        .write("limit", &large[1..])
        .write("large", &large)
        .remove("kept");
    symlink("no such target", repo.top.join("link")).unwrap();
    let tree = repo.inspect(None);
    assert_eq!(hash_of(&tree, "small"), Some(digest::of_text("small")));
    assert_eq!(hash_of(&tree, "limit"), Some(digest::of_text(&large[1..])));
    assert_eq!(
        hash_of(&tree, "link"),
        Some(digest::of_text("no such target"))
    );
    assert_eq!(hash_of(&tree, "kept"), None);
    // A large file is identified by its length and time.
    let then = hash_of(&tree, "large");
    assert!(then.is_some() && then != Some(digest::of_text(&large)));
    assert_eq!(hash_of(&repo.inspect(None), "large"), then);
    let file = std::fs::File::options()
        .write(true)
        .open(repo.top.join("large"))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_ne!(hash_of(&repo.inspect(None), "large"), then);
}

#[test]
fn a_fifo_in_a_files_place_is_not_read() {
    let repo = Repo::new();
    repo.remove("kept");
    let fifo = repo.top.join("kept");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let tree = repo.inspect(None);
    assert_eq!(
        (paths(&tree), hash_of(&tree, "kept")),
        (vec!["kept".to_owned()], None)
    );
}

#[test]
fn a_long_list_is_cut_with_a_note() {
    let repo = Repo::new();
    for count in 0..10 {
        repo.write(&format!("{count}"), "");
    }
    let bounds = Bounds {
        files_max: 3,
        ..BOUNDS
    };
    let tree = inspect_with(&bare_git(&repo.home()), &repo.top, &wanted(None), bounds);
    assert_eq!(paths(&tree), ["0", "1", "2"]);
    assert_eq!(tree.notes, ["git: 10 files changed; only 3 count"]);
}

#[test]
fn the_repository_is_never_written_to() {
    let inner = Repo::new();
    let repo = Repo::new();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.top.to_str().unwrap(),
        "sub",
    ])
    .commit_at(BEFORE);
    for name in ["core.untrackedCache", "feature.manyFiles"] {
        repo.git(&["config", name, "true"]);
    }
    repo.git(&["update-index", "--untracked-cache"])
        .write("new", "")
        .write("sub/new", "");
    // Stale stat data: the files are as they were, but younger than the index says.
    for path in ["kept", "lib/code.rs", "sub/kept"] {
        let file = std::fs::File::options()
            .write(true)
            .open(repo.top.join(path))
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(500))
            .unwrap();
    }
    let before = snapshot(&repo.top);
    assert_eq!(paths(&repo.inspect(turn())), ["new"]);
    assert_eq!(paths(&repo.inspect(None)), ["new"]);
    assert!(snapshot(&repo.top) == before);
    // The test can fail: a status that may take locks writes the index.
    repo.git(&["status"]);
    assert!(snapshot(&repo.top) != before);
}

#[test]
fn a_baseline_tells_the_users_changes_from_the_turns() {
    let repo = Repo::new();
    repo.write("kept", "the user's")
        .write("notes", "the user's");
    let then = files(&repo.inspect(None)).to_vec();
    repo.write("notes", "the agent's")
        .write("new", "")
        .commit_at(AFTER);
    let now = files(&repo.inspect(turn())).to_vec();
    // Committing what was changed before is not changing it.
    assert_eq!(now.len(), 3);
    let own: Vec<_> = now
        .into_iter()
        .filter(|file| !then.contains(file))
        .map(|file| file.path)
        .collect();
    assert_eq!(own, ["new", "notes"]);
    assert_eq!(super::baseline(&repo.beside("nowhere"), BOUNDS), None);
}
