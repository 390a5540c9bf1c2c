//! Repositories in temporary folders, made by the real git without any configuration but their own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use journal::{ChangedFile, Changes, Timestamp};
use tempfile::TempDir;

use super::super::command::Git;
use super::super::{Bounds, Request, Tree, inspect_with};

pub(super) const BOUNDS: Bounds = Bounds {
    within: Duration::from_secs(30),
    files_max: 5_000,
};
/// When the turn of every test began; commits get their times from [`Repo::commit_at`].
pub(super) const TURN: i64 = 1_700_000_000;
pub(super) const BEFORE: i64 = TURN - 1_000;
pub(super) const AFTER: i64 = TURN + 1_000;

pub(super) fn turn() -> Option<Timestamp> {
    Some(Timestamp::from_micros(TURN * 1_000_000 + 500_000))
}

pub(super) fn wanted(since: Option<Timestamp>) -> Request {
    Request {
        since,
        head: None,
        contents: true,
        comments: true,
        likely: true,
        ..Request::default()
    }
}

/// A git that reads no configuration of the machine the tests run on.
pub(super) fn bare_git(home: &Path) -> Git {
    let null = "/dev/null".into();
    Git {
        folder: Some(home.join("git")),
        variables: vec![
            ("HOME".into(), home.into()),
            ("XDG_CONFIG_HOME".into(), home.into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_SYSTEM".into(), null),
        ],
        ..Git::default()
    }
}

pub(super) struct Repo {
    folder: TempDir,
    pub(super) top: PathBuf,
}

impl Repo {
    /// A repository without a commit.
    pub(super) fn empty() -> Self {
        Self::made_with(&[]).unwrap()
    }

    /// A repository without a commit, made with further options; `None` if this git does not know them.
    pub(super) fn made_with(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        let top = folder.path().canonicalize().unwrap().join("re po");
        std::fs::create_dir(&top).unwrap();
        let repo = Self { folder, top };
        let init = [&["init", "-q", "-b", "main"], options].concat();
        let is_made = setup(&repo.home(), &repo.top, BEFORE, &init)
            .status
            .success();
        is_made.then_some(repo)
    }

    /// A repository with two committed files, `kept` and `lib/code.rs`.
    pub(super) fn new() -> Self {
        let repo = Self::empty();
        repo.fill();
        repo
    }

    /// Commits the two files.
    pub(super) fn fill(&self) -> &Self {
        self.write("kept", "kept\n")
            .write("lib/code.rs", "fn one() {}\nfn two() {}\nfn three() {}\n")
            .commit_at(BEFORE)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.top.with_file_name(name)
    }

    pub(super) fn write(&self, path: &str, text: &str) -> &Self {
        self.write_raw(path.as_bytes(), text)
    }

    pub(super) fn write_raw(&self, path: &[u8], text: &str) -> &Self {
        let path = self.top.join(OsStr::from_bytes(path));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(super) fn remove(&self, path: &str) -> &Self {
        std::fs::remove_file(self.top.join(path)).unwrap();
        self
    }

    pub(super) fn executable(&self, path: &str) -> &Self {
        std::fs::set_permissions(self.top.join(path), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        self
    }

    /// Commits everything, with these seconds as the time of the commit.
    pub(super) fn commit_at(&self, at: i64) -> &Self {
        self.git(&["add", "-A"])
            .git_at(at, &["commit", "-q", "-m", "one"])
    }

    pub(super) fn git(&self, arguments: &[&str]) -> &Self {
        self.git_at(BEFORE, arguments)
    }

    pub(super) fn git_at(&self, at: i64, arguments: &[&str]) -> &Self {
        let output = setup(&self.home(), &self.top, at, arguments);
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        self
    }

    pub(super) fn inspect(&self, since: Option<Timestamp>) -> Tree {
        inspect_with(&bare_git(&self.home()), &self.top, &wanted(since), BOUNDS)
    }

    /// The changed paths, which must be exactly what `git diff` and `git ls-files` say, run after the inspection
    /// because `git diff` may write.
    pub(super) fn checked_paths(&self) -> Vec<String> {
        self.checked_paths_at(&self.top)
    }

    /// Like [`Repo::checked_paths`], at the top of another work tree.
    pub(super) fn checked_paths_at(&self, cwd: &Path) -> Vec<String> {
        let tree = inspect_with(&bare_git(&self.home()), cwd, &wanted(None), BOUNDS);
        let paths = paths(&tree);
        let mut expected = BTreeSet::new();
        for arguments in [
            ["diff", "--no-renames", "--name-only", "-z", "HEAD"].as_slice(),
            [
                "ls-files",
                "--others",
                "--exclude-standard",
                "--full-name",
                "-z",
            ]
            .as_slice(),
        ] {
            let output = setup(&self.home(), cwd, BEFORE, arguments);
            assert!(output.status.success());
            let names = output
                .stdout
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            expected.extend(names.map(|name| {
                String::from_utf8_lossy(name)
                    .trim_end_matches('/')
                    .to_owned()
            }));
        }
        assert_eq!(paths, Vec::from_iter(expected));
        paths
    }
}

/// Runs git to set something up, with a fixed person and time.
pub(super) fn setup(home: &Path, cwd: &Path, at: i64, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments);
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_EDITOR", "true");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "a")
            .env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    // The author's time stays, as it does when a commit is amended.
    command
        .env("GIT_AUTHOR_DATE", format!("@{BEFORE} +0000"))
        .env("GIT_COMMITTER_DATE", format!("@{at} +0000"));
    command
        .current_dir(cwd)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Writes a program. A process of its own does, so that no child of another test can hold it open for writing.
pub(super) fn script(path: &Path, text: &str) {
    let write = "printf '%s' \"$1\" > \"$2\" && chmod +x \"$2\"";
    let status = Command::new("sh")
        .args(["-c", write, "sh", text])
        .arg(path)
        .status()
        .unwrap();
    assert!(status.success());
}

pub(super) fn files(tree: &Tree) -> &[ChangedFile] {
    match &tree.changes {
        Changes::Known(files) => files,
        other => panic!("{other:?} {:?}", tree.notes),
    }
}

pub(super) fn paths(tree: &Tree) -> Vec<String> {
    files(tree).iter().map(|file| file.path.clone()).collect()
}

pub(super) fn word(tree: &Tree) -> &str {
    match &tree.changes {
        Changes::Unknown(word) => word,
        other => panic!("{other:?}"),
    }
}

pub(super) fn hash_of(tree: &Tree, path: &str) -> Option<u64> {
    files(tree)
        .iter()
        .find(|file| file.path == path)
        .unwrap_or_else(|| panic!("no {path}"))
        .hash
}

/// Every file below a folder with what it holds and when it was written.
pub(super) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            }
            let bytes = if meta.is_file() {
                std::fs::read(entry.path()).unwrap()
            } else {
                Vec::new()
            };
            found.insert(entry.path(), (bytes, meta.modified().unwrap()));
        }
    }
    found
}
