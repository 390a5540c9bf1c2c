//! Repositories of tests.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder, free of the user's settings. Its commits are of long ago, before any turn of a test.
///
/// # Panics
///
/// Where git fails.
#[track_caller]
pub fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=n", "-c", "user.email=e@x"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
    assert!(command.status().expect("git").success(), "{arguments:?}");
}

/// Makes a folder a repository in which everything is committed.
#[track_caller]
pub fn commit_all(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", "first"]);
}
