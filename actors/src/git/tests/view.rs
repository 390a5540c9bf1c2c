//! Repositories that are stored or set up in other ways. The private folder for each must show what git shows.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::support::*;
use crate::git::command::Git;
use crate::git::snapshot as git_state;
use crate::git::view::View;

/// Sets a repository up and returns the work tree to look at.
type Arrange = fn(&Repo) -> PathBuf;

fn beside(repo: &Repo, name: &str, command: &[&str]) -> PathBuf {
    let folder = repo.beside(name);
    repo.git(&[command, &[folder.to_str().unwrap()]].concat());
    folder
}

fn here(repo: &Repo) -> PathBuf {
    repo.top.clone()
}

const ARRANGED: &[(&str, Arrange)] = &[
    ("plain", here),
    ("packed", |repo| here(repo.git(&["gc", "-q"]))),
    ("a split index", |repo| {
        repo.git(&["update-index", "--split-index"])
            .write("staged", "")
            .git(&["add", "staged"]);
        here(repo)
    }),
    ("a link as HEAD", |repo| {
        repo.remove(".git/HEAD");
        symlink("refs/heads/main", repo.top.join(".git/HEAD")).unwrap();
        here(repo)
    }),
    ("alternate objects", |repo| {
        beside(repo, "shared", &["clone", "-q", "--shared", "."])
    }),
    ("a shallow clone", |repo| {
        repo.write("more", "").commit_at(BEFORE);
        let url = format!("file://{}", repo.top.display());
        beside(repo, "shallow", &["clone", "-q", "--depth", "1", &url])
    }),
    ("a linked work tree", |repo| {
        beside(repo, "linked", &["worktree", "add", "-q"])
    }),
    ("a name with line breaks and quotes", |repo| {
        beside(repo, "a\n\"b\" \\", &["worktree", "add", "-q", "-b", "odd"])
    }),
    ("its folder elsewhere", |repo| {
        let linked = beside(
            repo,
            "elsewhere",
            &["clone", "-q", "--separate-git-dir=../elsewhere.git", "."],
        );
        assert!(linked.join(".git").is_file());
        linked
    }),
    (".git is a link", |repo| {
        let real = repo.beside("real");
        std::fs::rename(repo.top.join(".git"), &real).unwrap();
        symlink(real, repo.top.join(".git")).unwrap();
        here(repo)
    }),
    ("a sparse checkout", |repo| {
        here(repo.git(&[
            "sparse-checkout",
            "set",
            "--cone",
            "--sparse-index",
            "other",
        ]))
    }),
    ("line ends", |repo| {
        let text = "fn one() {}\r\nfn two() {}\r\nfn three() {}\r\n";
        repo.git(&["config", "core.autocrlf", "true"])
            .write("lib/code.rs", text)
            .git(&["add", "lib/code.rs"])
            // With another time, so that git has to read it.
            .write("lib/code.rs", text);
        here(repo)
    }),
    ("modes that do not count", |repo| {
        here(
            repo.git(&["config", "core.fileMode", "false"])
                .executable("lib/code.rs"),
        )
    }),
    ("the repository's ignored files", |repo| {
        repo.git(&["config", "core.excludesFile", "ignored"])
            .write("ignored", "*.log\n")
            .write(".git/info/exclude", "*.tmp\n")
            .write("a.log", "")
            .write("a.tmp", "")
            .write("a.txt", "");
        here(repo)
    }),
    ("the user's settings for one folder", |repo| {
        let more = repo.home().join("more");
        std::fs::write(repo.home().join("ignored"), "*.log\n").unwrap();
        std::fs::write(&more, "[core]\n\texcludesFile = ~/ignored\n").unwrap();
        let key = format!("includeIf.gitdir:{}/.path", repo.top.display());
        repo.git(&["config", "--global", &key, more.to_str().unwrap()])
            .write("a.log", "");
        here(repo)
    }),
];

/// Storage that is chosen when a repository is made, unless this git lacks it (before 2.45).
const MADE_WITH: [&str; 3] = [
    "--template=",
    "--object-format=sha256",
    "--ref-format=reftable",
];

fn changed(folder: &Path) {
    std::fs::write(folder.join("kept"), "new\n").unwrap();
    std::fs::write(folder.join("untracked"), "").unwrap();
}

#[test]
fn a_private_folder_shows_what_git_shows() {
    for (name, arrange) in ARRANGED {
        let repo = Repo::new();
        let folder = arrange(&repo);
        changed(&folder);
        let paths = repo.checked_paths_at(&folder);
        let seen = |path: &str| paths.iter().any(|it| it == path);
        assert!(seen("kept") && seen("untracked"), "{name}: {paths:?}");
        assert!(!seen("a.log") && !seen("a.tmp"), "{name}: {paths:?}");
    }
}

#[test]
fn every_form_of_storage_is_read() {
    let repos = MADE_WITH
        .iter()
        .filter_map(|option| Repo::made_with(&[option]));
    let repos: Vec<_> = repos.collect();
    assert!(repos.len() > 1);
    for repo in repos {
        let linked = beside(
            repo.fill(),
            "linked",
            &["worktree", "add", "-q", "-b", "topic"],
        );
        for (folder, branch) in [(&repo.top, "main"), (&linked, "topic")] {
            changed(folder);
            assert_eq!(repo.checked_paths_at(folder), ["kept", "untracked"]);
            let tree =
                crate::git::inspect_with(&bare_git(&repo.home()), folder, &wanted(turn()), BOUNDS);
            assert_eq!(tree.branch.as_deref(), Some(branch));
        }
    }
}

#[test]
fn a_branch_is_compared_with_the_one_that_it_follows() {
    let repo = Repo::new();
    let clone = beside(&repo, "clone", &["clone", "-q", "."]);
    setup(
        &repo.home(),
        &clone,
        AFTER,
        &["commit", "-q", "--allow-empty", "-m", "more"],
    );
    let state = git_state(&clone, Instant::now() + BOUNDS.within).unwrap();
    assert_eq!((state.ahead, state.behind), (Some(1), Some(0)));
    assert_eq!(state.subject, "more");
}

#[test]
fn a_private_folder_has_no_setting_that_names_a_program_and_is_gone_afterward() {
    let repo = Repo::new();
    for (key, value) in [
        ("filter.x.clean", "touch pwned"),
        ("core.fsmonitor", "touch pwned"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ext::touch pwned"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("core.worktree", "/"),
        ("core.eol", "l\"f\\ \n[filter \"y\"]"),
        ("include.path", "/nowhere"),
    ] {
        repo.git(&["config", key, value]);
    }
    let git = Git {
        folder: Some(repo.home().join("views")),
        ..bare_git(&repo.home())
    };
    let view = View::open(&git.at_top(), &repo.top, Instant::now() + BOUNDS.within).unwrap();
    let call = crate::git::command::words("config --list --local -z");
    let listed = view.run(&[call], Instant::now() + BOUNDS.within).unwrap();
    let listed = String::from_utf8_lossy(&listed[0].stdout).into_owned();
    let mut settings: Vec<_> = listed.split_terminator('\0').collect();
    settings.sort_unstable();
    assert_eq!(
        settings,
        [
            "core.bare\nfalse",
            "core.eol\nl\"f\\ \n[filter \"y\"]",
            "core.filemode\ntrue",
            "core.repositoryformatversion\n1",
            "filter.x.clean\n",
            "filter.x.process\n",
            "filter.x.required\nfalse",
            "filter.x.smudge\n",
            "remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*",
        ]
    );
    drop(view);
    assert_eq!(
        std::fs::read_dir(repo.home().join("views"))
            .unwrap()
            .count(),
        0
    );
}
