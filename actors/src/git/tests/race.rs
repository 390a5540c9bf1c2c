//! A repository's configuration that is rewritten while the work tree is examined, again and again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::attacks::{marker, payload};
use super::support::*;
use crate::git::inspect_with;

/// How often the work tree is examined.
const LOOKS: usize = 40;

/// Puts a file with a filter and one without in the place of a configuration, in turn.
struct Rewritten {
    config: PathBuf,
    plain: String,
    filtered: String,
}

impl Rewritten {
    fn new(repo: &Repo, config: PathBuf) -> Self {
        let plain = std::fs::read_to_string(&config).unwrap();
        let filter = format!("[filter \"x\"]\n\tclean = \"{}\"\n", payload(repo));
        Self {
            filtered: format!("{plain}{filter}"),
            plain,
            config,
        }
    }

    fn rewrite_until(&self, stop: &AtomicBool) {
        let other = self.config.with_extension("other");
        while !stop.load(Ordering::Relaxed) {
            for text in [&self.filtered, &self.plain] {
                std::fs::write(&other, text).unwrap();
                std::fs::rename(&other, &self.config).unwrap();
                std::thread::sleep(Duration::from_micros(700));
            }
        }
        std::fs::write(&self.config, &self.filtered).unwrap();
    }
}

fn check(name: &str, repo: &Repo, cwd: &Path, changed: &str, config: PathBuf) {
    let rewritten = Rewritten::new(repo, config);
    let stop = AtomicBool::new(false);
    let git = bare_git(&repo.home());
    std::thread::scope(|scope| {
        scope.spawn(|| rewritten.rewrite_until(&stop));
        for look in 0..LOOKS {
            let tree = inspect_with(&git, cwd, &wanted(turn()), BOUNDS);
            let is_run = marker(repo).exists();
            if is_run || paths(&tree) != [changed] {
                stop.store(true, Ordering::Relaxed);
            }
            assert!(!is_run, "{name}: the program was run at look {look}");
            assert_eq!(paths(&tree), [changed], "{name}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    setup(&repo.home(), cwd, BEFORE, &["status"]);
    assert!(marker(repo).exists(), "{name}: no attack");
}

fn filtered() -> Repo {
    let repo = Repo::new();
    repo.write(".git/info/attributes", "* filter=x\n")
        .write("kept", "tpek\n");
    repo
}

#[test]
fn no_filter_is_run_that_is_defined_during_the_look() {
    let repo = filtered();
    check(
        "configuration",
        &repo,
        &repo.top,
        "kept",
        repo.top.join(".git/config"),
    );

    let repo = filtered();
    repo.git(&["config", "include.path", "more"])
        .write(".git/more", "");
    check(
        "include",
        &repo,
        &repo.top,
        "kept",
        repo.top.join(".git/more"),
    );

    let repo = filtered();
    let linked = repo.beside("linked");
    repo.git(&["config", "extensions.worktreeConfig", "true"])
        .git(&["worktree", "add", "-q", linked.to_str().unwrap()])
        .git(&[
            "-C",
            linked.to_str().unwrap(),
            "config",
            "--worktree",
            "x.y",
            "z",
        ]);
    std::fs::write(linked.join("kept"), "tpek\n").unwrap();
    let config = repo.top.join(".git/worktrees/linked/config.worktree");
    check("linked work tree", &repo, &linked, "kept", config);

    let (inner, repo) = (Repo::new(), Repo::new());
    let from = inner.top.to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", from, "sub"])
        .commit_at(BEFORE)
        .write(".git/modules/sub/info/attributes", "* filter=x\n")
        .write("sub/kept", "tpek\n");
    let config = repo.top.join(".git/modules/sub/config");
    check("submodule", &repo, &repo.top, "sub", config);
}
