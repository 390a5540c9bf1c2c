//! Validation of a document (spec PROG-10): its content compared with the current state.

use journal::{ChangedFile, Timestamp};
use serde::{Deserialize, Serialize};

use reading::{shell, text};

use super::document::{Document, GitState};
use super::lines::span;

/// The most names in one line; the rest are counted.
const NAMES_MAX: usize = 8;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// `document`, `git`, `files`, `sessions`, `dependencies` or `external`.
    pub check: String,
    /// Whether it holds.
    pub ok: bool,
    /// What the document says, if that does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The finding.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconcile: Option<String>,
}

impl CheckResult {
    /// Creates a result that holds.
    pub fn good(check: &str, found: impl Into<String>) -> Self {
        Self {
            check: check.into(),
            ok: true,
            expected: None,
            found: found.into(),
            reconcile: None,
        }
    }

    /// Creates a result that does not hold.
    pub fn bad(
        check: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
        reconcile: impl Into<String>,
    ) -> Self {
        Self {
            check: check.into(),
            ok: false,
            expected: Some(expected.into()),
            found: found.into(),
            reconcile: Some(reconcile.into()),
        }
    }
}

/// The results of all checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Whether all results hold.
    pub holds: bool,
    /// The results in order.
    pub lines: Vec<CheckResult>,
}

impl Report {
    /// Creates a report of results.
    pub fn of(lines: Vec<CheckResult>) -> Self {
        Self {
            holds: lines.iter().all(|line| line.ok),
            lines,
        }
    }
}

/// Later work of another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its agent and the beginning of its id.
    pub who: String,
    /// When it last changed something.
    pub last_at: Timestamp,
    /// The files that it changed, as the document names them.
    pub files: Vec<String>,
}

/// The current state.
#[derive(Clone, Debug)]
pub struct Now {
    /// The state of git, or the reason why it is not known.
    pub git: Result<GitState, String>,
    /// The document's files with their current hashes; other files that could not be read in time are not in it.
    pub files: Vec<ChangedFile>,
    /// The must-read files that do not exist.
    pub missing: Vec<String>,
    /// The lock files with their current hashes.
    pub lock_files: Vec<ChangedFile>,
    /// Later work of other sessions.
    pub elsewhere: Vec<Elsewhere>,
}

/// Compares a document with the current state
/// (spec PROG-10; the user's own checks are added by the caller).
pub fn compare(document: &Document, now: &Now) -> Report {
    let mut lines = git(document, &now.git);
    lines.extend(files(document, now));
    lines.extend(sessions(document, &now.elsewhere));
    lines.push(dependencies(&document.lock_files, &now.lock_files));
    Report::of(lines)
}

fn git(document: &Document, now: &Result<GitState, String>) -> Vec<CheckResult> {
    let (then, now) = match (&document.git, now) {
        (Ok(then), Ok(now)) => (then, now),
        (Err(_), Err(_)) => {
            return vec![CheckResult::good(
                "git",
                "not asked: the project is in no git work tree",
            )];
        }
        (Ok(_), Err(why)) => {
            return vec![CheckResult::bad(
                "git",
                "a git work tree",
                format!("git cannot be asked ({why})"),
                "find out what became of the repository",
            )];
        }
        (Err(_), Ok(now)) => {
            return vec![CheckResult::bad(
                "git",
                "no git work tree",
                format!("there is a repository now, on {}", named(&now.branch)),
                "look at `git log`",
            )];
        }
    };
    let mut lines = vec![branch(then, now), commit(then, now)];
    lines.extend(uncommitted(then, now));
    lines
}

fn branch(then: &GitState, now: &GitState) -> CheckResult {
    let (was, is) = (named(&then.branch), named(&now.branch));
    if then.branch == now.branch {
        return CheckResult::good("git", format!("on branch {is}"));
    }
    // A repository chooses the name, and an agent may run the command.
    let plain = |name: &&String| shell::quoted(name) == **name && !name.starts_with('-');
    let switch = match then.branch.as_ref().filter(plain) {
        Some(name) => format!("`git switch {name}`"),
        None => "switch back".to_owned(),
    };
    CheckResult::bad(
        "git",
        format!("branch {was}"),
        format!("on {is}, not on {was}"),
        format!("{switch}, or go on where you are on purpose"),
    )
}

/// Returns the name of a branch as code.
fn named(branch: &Option<String>) -> String {
    branch.as_deref().map_or("(detached)".into(), span)
}

fn commit(then: &GitState, now: &GitState) -> CheckResult {
    let short = |commit: &Option<String>| {
        commit
            .as_deref()
            .map_or("none", |hash| text::head(hash, 10))
            .to_owned()
    };
    if then.commit == now.commit {
        CheckResult::good("git", format!("last commit is {}", short(&now.commit)))
    } else {
        let was = short(&then.commit);
        let is = short(&now.commit);
        let reconcile = if then.commit.is_some() {
            format!("read `git log {was}..HEAD`")
        } else {
            "read `git log`".into()
        };
        CheckResult::bad(
            "git",
            format!("last commit {was}"),
            format!("last commit was {was} and is {is}"),
            reconcile,
        )
    }
}

fn uncommitted(then: &GitState, now: &GitState) -> Vec<CheckResult> {
    let mut lines = Vec::new();
    let gone: Vec<&str> = missing(&then.uncommitted, &now.uncommitted);
    let new: Vec<&str> = missing(&now.uncommitted, &then.uncommitted);
    if gone.is_empty() && new.is_empty() {
        let files = text::count(now.uncommitted.len(), "file", "files");
        lines.push(CheckResult::good(
            "git",
            format!("uncommitted as then: {files}"),
        ));
    }
    if !gone.is_empty() {
        let found = format!("no longer uncommitted: {}", names(&gone));
        lines.push(CheckResult::bad(
            "git",
            format!("uncommitted changes in {}", names(&gone)),
            found,
            "see whether they were committed, stashed (`git stash list`) or thrown away",
        ));
    }
    if !new.is_empty() {
        lines.push(CheckResult::bad(
            "git",
            format!("no uncommitted changes in {}", names(&new)),
            format!("uncommitted since: {}", names(&new)),
            "read `git diff` of these before you change them",
        ));
    }
    lines
}

/// The paths that are in one list and not in the other.
fn missing<'a>(from: &'a [(String, String)], in_other: &[(String, String)]) -> Vec<&'a str> {
    let is_there = |path: &str| in_other.iter().any(|(_, other)| other == path);
    from.iter()
        .map(|(_, path)| path.as_str())
        .filter(|path| !is_there(path))
        .collect()
}

fn files(document: &Document, now: &Now) -> Vec<CheckResult> {
    let mut gone = Vec::new();
    let mut changed = Vec::new();
    let mut back = Vec::new();
    let hash_of = |path: &str| now.files.iter().find(|mark| mark.path == path);
    let own = document.facts.files.iter().map(|file| {
        let is = hash_of(&file.path).and_then(|mark| mark.hash);
        (file.path.as_str(), file.hash, is)
    });
    let others = document.others.iter().filter_map(|file| {
        let is = hash_of(&file.path)?.hash;
        Some((file.path.as_str(), file.hash, is))
    });
    for (path, was, is) in own.chain(others) {
        match (was, is) {
            (Some(_), None) => gone.push(path),
            (Some(was), Some(is)) if was != is => changed.push(path),
            (None, Some(_)) => back.push(path),
            _ => {}
        }
    }
    let mut lines = Vec::new();
    if gone.is_empty() && changed.is_empty() && back.is_empty() {
        let others = match document.others.len() {
            0 => String::new(),
            count => format!(", and {}", text::count(count, "other", "others")),
        };
        lines.push(CheckResult::good(
            "files",
            format!(
                "as the session left them: {}{others}",
                text::count(document.facts.files.len(), "file", "files")
            ),
        ));
    }
    if !gone.is_empty() {
        lines.push(CheckResult::bad(
            "files",
            format!("{} with the content that the session left", names(&gone)),
            format!("gone: {}", names(&gone)),
            "find out who removed them (`git log --diff-filter=D`); `git checkout COMMIT -- FILE` brings one back",
        ));
    }
    if !changed.is_empty() {
        lines.push(CheckResult::bad(
            "files",
            format!("{} with the content that the session left", names(&changed)),
            format!("changed since: {}", names(&changed)),
            "read them again before you rely on what is said of them",
        ));
    }
    if !back.is_empty() {
        lines.push(CheckResult::bad(
            "files",
            format!("no {}", names(&back)),
            format!("there again though deleted: {}", names(&back)),
            "see whether the deletion is still wanted",
        ));
    }
    if !now.missing.is_empty() {
        let missing: Vec<&str> = now.missing.iter().map(String::as_str).collect();
        lines.push(CheckResult::bad(
            "files",
            format!("{} to read", names(&missing)),
            format!("to be read, but not there: {}", names(&missing)),
            "look for them under another name",
        ));
    }
    lines
}

fn sessions(document: &Document, elsewhere: &[Elsewhere]) -> Vec<CheckResult> {
    let mut lines = Vec::new();
    for other in elsewhere {
        let ours = |path: &&str| document.facts.files.iter().any(|file| file.path == **path);
        let common: Vec<&str> = other
            .files
            .iter()
            .map(String::as_str)
            .filter(ours)
            .collect();
        if common.is_empty() {
            let found = format!(
                "{} changed {} other files, the last at {}",
                other.who,
                other.files.len(),
                other.last_at
            );
            lines.push(CheckResult::good("sessions", found));
        } else {
            let found = format!(
                "{} changed {} at {}",
                other.who,
                names(&common),
                other.last_at
            );
            lines.push(CheckResult::bad(
                "sessions",
                format!("no other session's changes to {}", names(&common)),
                found,
                "compare what it did with this document's steps before you go on",
            ));
        }
    }
    if lines.is_empty() {
        lines.push(CheckResult::good(
            "sessions",
            "no other session changed files here since",
        ));
    }
    lines
}

fn dependencies(then: &[ChangedFile], now: &[ChangedFile]) -> CheckResult {
    let hash = |marks: &[ChangedFile], path: &str| {
        marks
            .iter()
            .find(|mark| mark.path == path)
            .and_then(|mark| mark.hash)
    };
    let mut paths: Vec<&str> = then
        .iter()
        .chain(now)
        .map(|mark| mark.path.as_str())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths.retain(|path| hash(then, path) != hash(now, path));
    match (paths.is_empty(), then.is_empty()) {
        (true, true) => CheckResult::good("dependencies", "there are no lock files"),
        (true, false) => CheckResult::good(
            "dependencies",
            format!("lock files are unchanged ({})", then.len()),
        ),
        _ => CheckResult::bad(
            "dependencies",
            format!("{} as they were", names(&paths)),
            format!("changed since: {}", names(&paths)),
            "install the dependencies again, and build",
        ),
    }
}

/// Returns names of files as code.
fn names(names: &[&str]) -> String {
    let shown = names
        .iter()
        .take(NAMES_MAX)
        .map(|name| span(name))
        .collect::<Vec<_>>()
        .join(", ");
    let left = names.len().saturating_sub(NAMES_MAX);
    if left == 0 {
        shown
    } else {
        format!("{shown} and {left} more")
    }
}
