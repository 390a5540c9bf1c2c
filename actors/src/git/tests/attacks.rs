//! Repositories whose own configuration names programs for git to run. None may run when the work tree is examined;
//! that the plain `git status` runs each of them shows that the attack is real.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use journal::Timestamp;

use super::support::*;
use crate::git::head::head_with;
use crate::git::{inspect_with, snapshot as git_state};

/// A repository that waits for a git to run in `cwd`.
struct Attack {
    repo: Repo,
    cwd: PathBuf,
    /// The changed files; `None` if the repository is not used at all.
    changed: Option<&'static [&'static str]>,
}

impl Attack {
    fn new(repo: Repo, changed: &'static [&'static str]) -> Self {
        Self {
            cwd: repo.top.clone(),
            repo,
            changed: Some(changed),
        }
    }
}

pub(super) fn marker(repo: &Repo) -> PathBuf {
    repo.beside("pwned")
}

pub(super) fn payload(repo: &Repo) -> String {
    format!("touch '{}'; cat", marker(repo).display())
}

/// Gives every file the filter `name`, and changes one in a way that only its content shows.
fn filtered(name: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".git/info/attributes", &format!("* filter={name}\n"))
        .write("kept", "tpek\n");
    repo
}

fn with_setting(filter: &str, key: &str) -> Attack {
    let repo = filtered(filter);
    repo.git(&["config", key, &payload(&repo)]);
    Attack::new(repo, &["kept"])
}

fn with_include(key: &str) -> Attack {
    let repo = filtered("x");
    let text = format!("[filter \"x\"]\n\tclean = \"{}\"\n", payload(&repo));
    repo.write(".git/more", &text).git(&["config", key, "more"]);
    Attack::new(repo, &["kept"])
}

fn with_submodule() -> Attack {
    let inner = Repo::new();
    let repo = Repo::new();
    let from = inner.top.to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", from, "sub"])
        .commit_at(BEFORE);
    repo.git(&["-C", "sub", "config", "filter.x.clean", &payload(&repo)])
        .write(".git/modules/sub/info/attributes", "* filter=x\n")
        .write("sub/kept", "tpek\n");
    Attack::new(repo, &["sub"])
}

fn with_linked_work_tree() -> Attack {
    let repo = filtered("x");
    let cwd = repo.beside("linked");
    let linked = cwd.to_str().unwrap();
    repo.git(&["config", "extensions.worktreeConfig", "true"])
        .git(&["worktree", "add", "-q", linked]);
    let payload = payload(&repo);
    repo.git(&[
        "-C",
        linked,
        "config",
        "--worktree",
        "filter.x.clean",
        &payload,
    ]);
    std::fs::write(cwd.join("kept"), "tpek\n").unwrap();
    Attack {
        cwd,
        ..Attack::new(repo, &["kept"])
    }
}

/// A folder that a clone brings along: everything in it could be committed.
fn with_embedded_repository(below: &str) -> Attack {
    let repo = Repo::new();
    let inner = Repo::new();
    inner.write(".gitattributes", "* filter=x\n");
    inner.commit_at(BEFORE);
    let folder = repo.top.join("vendor/pkg");
    std::fs::create_dir_all(repo.top.join("vendor")).unwrap();
    std::fs::rename(inner.top.join(".git"), &folder).unwrap();
    std::fs::rename(&inner.top, folder.join("wt")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tworktree = wt\n[filter \"x\"]\n\tclean = \"{}\"\n",
        payload(&repo)
    );
    repo.write("vendor/pkg/config", &config)
        .write("vendor/pkg/wt/kept", "tpek\n");
    Attack {
        cwd: folder.join(below),
        changed: None,
        ..Attack::new(repo, &[])
    }
}

fn with_hook() -> Attack {
    let repo = Repo::new();
    let hook = repo.top.join(".git/hooks/post-index-change");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    script(&hook, &format!("#!/bin/sh\n{}", payload(&repo)));
    // A stale time: a git that may write refreshes its index.
    repo.write("kept", "kept\n");
    age(&repo.top.join("kept"));
    Attack::new(repo, &[])
}

fn age(file: &Path) {
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(500))
        .unwrap();
}

fn check(name: &str, attack: &Attack) {
    let git = bare_git(&attack.repo.home());
    let tree = inspect_with(&git, &attack.cwd, &wanted(turn()), BOUNDS);
    let _ = git_state(&attack.cwd, Instant::now() + BOUNDS.within);
    let _ = head_with(&git, &attack.cwd, Timestamp::now(), BOUNDS.within);
    let marker = marker(&attack.repo);
    assert!(!marker.exists(), "{name}: the program was run");
    match attack.changed {
        Some(changed) => assert_eq!(paths(&tree), changed, "{name}"),
        None => assert_eq!(word(&tree), "bare_repository", "{name}"),
    }
    setup(&attack.repo.home(), &attack.cwd, BEFORE, &["status"]);
    assert!(marker.exists(), "{name}: no attack");
}

#[test]
fn no_filter_of_a_repository_is_run() {
    check("clean", &with_setting("x", "filter.x.clean"));
    check("process", &with_setting("x", "filter.x.process"));
    check("a name with =", &with_setting("a=b", "filter.a=b.clean"));
    check(
        "a name with dots",
        &with_setting("a.b.", "filter.a.b..clean"),
    );
    let required = with_setting("x", "filter.x.clean");
    required.repo.git(&["config", "filter.x.required", "true"]);
    check("required", &required);
    check("include", &with_include("include.path"));
    check("includeIf", &with_include("includeIf.onbranch:main.path"));
}

#[test]
fn no_filter_of_another_configuration_is_run() {
    check("submodule", &with_submodule());
    check("linked work tree", &with_linked_work_tree());
    check("embedded repository", &with_embedded_repository(""));
    check("work tree of one", &with_embedded_repository("wt"));
}

#[test]
fn no_monitor_and_no_hook_is_run() {
    check("fsmonitor", &with_setting("none", "core.fsmonitor"));
    check("hook", &with_hook());
}

#[test]
fn a_filter_of_the_user_runs_unless_the_repository_redefines_it() {
    let repo = filtered("lfs");
    let user = repo.beside("user");
    let clean = format!("touch '{}'; cat", user.display());
    repo.git(&["config", "--global", "filter.lfs.clean", &clean]);
    let tree = repo.inspect(None);
    assert_eq!((paths(&tree), tree.notes.len()), (vec!["kept".into()], 0));
    assert!(user.exists());
    std::fs::remove_file(&user).unwrap();
    // git-lfs runs the programs of its extensions.
    for key in ["filter.lfs.clean", "lfs.extension.x.clean"] {
        repo.git(&["config", key, &payload(&repo)]);
        let tree = repo.inspect(None);
        assert_eq!(paths(&tree), ["kept"]);
        assert!(tree.notes[0].contains("not run (lfs)"), "{:?}", tree.notes);
        assert!(!marker(&repo).exists() && !user.exists());
        repo.git(&["config", "--unset", key]);
    }
}

#[test]
fn a_file_under_a_filter_that_is_not_run_counts_once_it_is_written() {
    let repo = Repo::empty();
    repo.write(".git/info/attributes", "* filter=loud\n")
        .git(&["config", "filter.loud.clean", "tr a-z A-Z"])
        .write("one", "one")
        .write("two", "two");
    for name in ["one", "two"] {
        age(&repo.top.join(name));
    }
    repo.commit_at(BEFORE);
    let tree = repo.inspect(None);
    assert_eq!((paths(&tree), tree.notes.len()), (vec![], 0));
    repo.write("one", "ONE!");
    assert_eq!(paths(&repo.inspect(None)), ["one"]);
    // Only the filter could tell that this is what was committed.
    repo.write("one", "one");
    let tree = repo.inspect(None);
    assert_eq!(paths(&tree), ["one"]);
    assert!(tree.notes[0].contains("not run (loud)"), "{:?}", tree.notes);
}

#[test]
fn no_other_program_of_a_repository_is_run() {
    let repo = Repo::new();
    repo.write(".git/info/attributes", "* diff=x\n");
    for key in [
        "core.pager",
        "pager.status",
        "pager.log",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "gpg.program",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "alias.status",
        "remote.origin.uploadpack",
    ] {
        repo.git(&["config", key, &payload(&repo)]);
    }
    for (key, value) in [
        ("log.showSignature", "true"),
        ("status.submoduleSummary", "true"),
        ("remote.origin.url", "."),
        ("remote.origin.promisor", "true"),
        ("protocol.file.allow", "always"),
    ] {
        repo.git(&["config", key, value]);
    }
    repo.write("kept", "new").commit_at(AFTER).write("new", "");
    assert_eq!(paths(&repo.inspect(turn())), ["kept", "new"]);
    // A missing object would be fetched from the promisor remote, by a program that the repository names.
    std::fs::remove_dir_all(repo.top.join(".git/objects")).unwrap();
    std::fs::create_dir(repo.top.join(".git/objects")).unwrap();
    repo.inspect(turn());
    assert!(!marker(&repo).exists());
}
