//! Finds the changed files of a work tree (spec FILES-1 to FILES-9). Never writes to the user's repository, and always
//! returns by its deadline.
//!
//! The repository is opened without its configuration first (`view.rs`). Then git commands run in parallel: `status`
//! (differences from HEAD, untracked files, the branch), `ls-files` if the names of other files matter and the index is
//! not the one that was listed last, `cat-file` if earlier contents matter, and `log` (commits
//! since then) if the start of the turn is known. If it is known where HEAD was then, `log` runs after `status`, and only if
//! HEAD is somewhere else now. `git diff` itself is not run, because it may rewrite `.git/index` even
//! with optional locks off.
//!
//! The changed files are those of `git diff --no-renames --name-only HEAD` (both names of a renamed file: the old path
//! is gone, the new one is new), of `git ls-files --others --exclude-standard`, and of the commits since. Intentional
//! differences from those commands:
//!
//! - staged changes count even if the file in the work tree equals HEAD again;
//! - in a repository without a commit, every staged file counts as changed;
//! - an untracked nested repository is listed without its trailing slash, like a submodule.
//!
//! `log` stops at the first commits older than the turn, so it is cheap if the turn has none. Commit times have a
//! resolution of one second; the second in which the turn began counts as part of it. If it is known where HEAD was
//! then, what could be reached from there or from another ref does not count (`head.rs`). Of a merge commit only files
//! that differ from all parents count, so that merging old work is not a change of the turn; recent commits that were
//! merged count by their own times.

mod answers;
mod before;
mod cached;
mod changed;
mod command;
mod contents;
mod found;
mod head;
mod history;
mod left;
mod linked;
mod listing;
mod mark;
mod named;
mod parse;
mod private;
mod request;
mod snapshot;
mod submodules;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests;
mod times;
mod view;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use checkpoint::text;
use checkpoint::whose::Times;
use journal::{ChangedFile, Changes, FileFacts, Timestamp};

pub use cached::{keep_private_folders, remove_private_folders};
pub(crate) use cached::{main_tree, shared_dir};
pub(crate) use changed::{Changed, changed};
pub use command::{clear_private_folders, guard};
pub use head::head;
pub use history::{commits_since, ignored, listed};
pub use listing::Listing;
pub use named::Named;
pub(crate) use named::Within;
pub use snapshot::{committed, held, snapshot, was_touched};
pub(crate) use times::{FILE_TICK, Stamp, changed as changed_at, written as written_at};

use answers::Answers;
use before::{Held, Reader, commit_before};
use command::{Failure, Git, Output};
use contents::Contents;
pub use request::{Bounds, Request};
use view::{Closed, View};

/// Asks git about a work tree, once for each list of arguments, without that a program of the repository's settings runs.
///
/// # Errors
///
/// If there is no repository, or git does not answer in full by the deadline.
pub fn ask(folder: &Path, calls: &[&[&str]], deadline: Instant) -> io::Result<Vec<Vec<u8>>> {
    let calls: Vec<Vec<String>> = calls
        .iter()
        .map(|call| call.iter().map(ToString::to_string).collect())
        .collect();
    let said = |why: String| io::Error::other(format!("git: {why}"));
    let failed = |failure| match failure {
        Failure::Missing => said("not found".to_owned()),
        Failure::Timeout => said("no answer in time".to_owned()),
        Failure::System(error) => error,
    };
    let view = View::open(&Git::default(), folder, deadline).map_err(|closed| match closed {
        Closed::NoFolder => said(format!("{} is not a folder", folder.display())),
        Closed::Failed(failure) => failed(failure),
        Closed::Refused { output, .. } => said(output.complaint()),
    })?;
    let outputs = view.run(&calls, deadline).map_err(failed)?.into_iter();
    let whole = |output: Output| match output {
        output if output.is_cut => Err(said("it lists more than can be read".to_owned())),
        output if output.exit.success() => Ok(output.stdout),
        output => Err(said(output.complaint())),
    };
    outputs.map(whole).collect()
}

/// The result of one inspection.
#[derive(Debug, Default)]
pub struct Tree {
    /// The changed files.
    pub changes: Changes,
    /// The top folder; `None` if it is not known.
    pub top: Option<PathBuf>,
    /// Whether commits since the turn began hold some of the changes.
    pub committed: bool,
    /// Those of the changed files that are as commits hold them that the turn made and left.
    pub left: BTreeSet<String>,
    /// When the changed files were written.
    pub times: HashMap<String, Times>,
    /// What the changed files hold; empty unless asked for.
    pub files: FileFacts,
    /// The listed files, if any were asked for.
    pub listing: Option<Arc<Listing>>,
    /// The current branch.
    pub branch: Option<String>,
    /// The repository that it is a clone of.
    pub remote: Option<String>,
    /// The git directory that all its work trees share.
    pub git_dir: Option<String>,
    /// Notes about incomplete answers, with the reasons.
    pub notes: Vec<String>,
}

impl Tree {
    fn unknown(word: &str, note: Option<String>) -> Self {
        Self {
            changes: Changes::Unknown(word.into()),
            notes: note.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// The note for a list that was cut.
const LIST_CUT: &str = "git: the list of changed files was too long and was cut";

/// The state of a work tree before its changed files are compared with their earlier contents.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The top folder.
    pub top: &'a Path,
    /// The changed files.
    pub files: &'a [ChangedFile],
    /// The listed files, if any were asked for.
    pub listing: Option<&'a Listing>,
}

/// Inspects the work tree around `cwd`. Blocks for at most `bounds.within`.
pub fn inspect(cwd: &Path, wanted: &Request, bounds: Bounds) -> Tree {
    inspect_while(cwd, wanted, bounds, &mut |_| ())
}

/// Like [`inspect`]. While git is asked what the changed files held before, `meanwhile` runs; it does not if there is
/// nothing to ask.
pub fn inspect_while(
    cwd: &Path,
    wanted: &Request,
    bounds: Bounds,
    meanwhile: Meanwhile<'_>,
) -> Tree {
    inspect_by(&Git::default(), cwd, wanted, bounds, meanwhile)
}

/// What is done while git is asked.
type Meanwhile<'m> = &'m mut dyn FnMut(Seen<'_>);

/// Returns the changed files at the start of a turn, or `None` if git gives no answer.
pub fn baseline(cwd: &Path, bounds: Bounds) -> Option<Vec<ChangedFile>> {
    match inspect(cwd, &Request::default(), bounds).changes {
        Changes::Known(files) => Some(files),
        Changes::NotAsked | Changes::Unknown(_) => None,
    }
}

#[cfg(test)]
fn inspect_with(git: &Git, cwd: &Path, wanted: &Request, bounds: Bounds) -> Tree {
    inspect_by(git, cwd, wanted, bounds, &mut |_| ())
}

fn inspect_by(
    git: &Git,
    cwd: &Path,
    wanted: &Request,
    bounds: Bounds,
    meanwhile: Meanwhile<'_>,
) -> Tree {
    let deadline = Instant::now() + bounds.within;
    let failed = |failure| match failure {
        Failure::Missing => Tree::unknown("git_missing", None),
        Failure::Timeout => Tree::unknown(
            "timeout",
            Some(format!("git: no answer within {:?}", bounds.within)),
        ),
        Failure::System(error) => Tree::unknown("git_failed", Some(format!("git: {error}"))),
    };
    let view = match View::open(git, cwd, deadline) {
        Ok(view) => view,
        Err(Closed::NoFolder) => {
            let note = format!("git: {} is not a folder", cwd.display());
            return Tree::unknown("not_a_repository", Some(note));
        }
        Err(Closed::Failed(failure)) => return failed(failure),
        Err(Closed::Refused { output, is_bare }) => {
            return Tree::unknown(refusal(&output, is_bare), complaint(&output, is_bare));
        }
    };
    let mut reader = Reader::new(&view);
    match Answers::ask(&mut reader, wanted, deadline) {
        Ok(answers) => {
            let git = (git, reader, deadline);
            let mut tree = tree(git, &answers, wanted, bounds, meanwhile);
            tree.notes
                .extend((!answers.is_head_known).then(|| head::NOT_KNOWN_HERE.into()));
            tree
        }
        Err(failure) => failed(failure),
    }
}

/// Builds the result from git's answers.
fn tree(
    (git, reader, deadline): (&Git, Reader<'_>, Instant),
    answers: &Answers,
    wanted: &Request,
    bounds: Bounds,
    meanwhile: Meanwhile<'_>,
) -> Tree {
    let view = reader.view;
    let (status, log) = (&answers.status, answers.log.as_ref());
    let answer = parse::status(&status.stdout);
    if !status.is_good() || !answer.answered {
        return Tree::unknown(refusal(status, false), complaint(status, false));
    }
    let top = view.found.top.as_path();
    let mut notes = Vec::new();
    if !status.stderr.is_empty() {
        notes.push(format!("git status: {}", status.complaint()));
    }
    let submodules = submodules_of(git, view, deadline, &mut notes);
    let mut committed = changed::commits(log, answer.unborn, &mut notes);
    committed.extend(changed::commits(answers.dated.as_ref(), true, &mut notes));
    let before = head::commit_at_top(wanted.head.as_ref(), top);
    head::keep_changed(view, before, &mut committed, deadline);
    let is_cut = status.is_cut || log.is_some_and(|log| log.is_cut);
    notes.extend(is_cut.then(|| LIST_CUT.to_owned()));
    let named = Within::new(&wanted.named, top);
    let linked = linked::below(&view.found.git_dir, top);
    let untracked = answer.paths[answer.paths.len() - answer.untracked..].to_vec();
    let mut paths = answer.paths;
    paths.extend(submodules.iter().map(Vec::as_slice));
    if !view.found.filters.is_empty() && !paths.is_empty() {
        notes.push(filters_not_run(&view.found.filters));
    }
    paths.extend(&committed);
    paths.retain(|path| !linked::holds(&linked, path));
    let unlisted = if answer.unborn {
        Vec::new()
    } else {
        named.unlisted(view, &paths, is_cut, deadline)
    };
    paths.extend(unlisted.iter().map(Vec::as_slice));
    limit(&mut paths, &named, &untracked, bounds.files_max, &mut notes);
    let mut held = (wanted.contents || wanted.comments).then(|| {
        let doubtful = answer.doubtful.iter().chain(&committed).copied();
        Held::new(doubtful.collect(), wanted.comments)
    });
    let mut contents = Contents::new(top, deadline);
    let (mut files, times) = hashed(paths, &named, &mut contents, held.as_mut());
    let hash = |path: &[u8]| contents.hash(path);
    let left = left::files(view, wanted, answer.head, hash, deadline);
    let left = add_left(&mut files, left, &mut notes);
    let seen = Seen {
        top,
        files: &files,
        listing: answers.listing.as_deref(),
    };
    let since = wanted.since.filter(|_| !committed.is_empty());
    let before = || compared_with(view, answer.unborn, since, before, deadline);
    let facts = held.map(|held| held.compare(reader, before, deadline, || meanwhile(seen)));
    let branch = answer.branch.map(String::from_utf8_lossy);
    Tree {
        changes: Changes::Known(files),
        top: Some(top.to_owned()),
        committed: !committed.is_empty() || !left.is_empty(),
        left,
        times,
        files: facts.unwrap_or_default(),
        listing: answers.listing.clone(),
        branch: branch.map(Cow::into_owned),
        remote: view.found.remote.clone(),
        git_dir: view.found.common_dir.clone(),
        notes,
    }
}

/// Returns the commit with which the contents are compared; none in a repository without one.
fn compared_with(
    view: &View,
    unborn: bool,
    since: Option<Timestamp>,
    before: Option<&str>,
    deadline: Instant,
) -> Option<String> {
    match since {
        _ if unborn => None,
        Some(since) => before
            .map(str::to_owned)
            .or_else(|| commit_before(view, since, deadline)),
        None => Some("HEAD".to_owned()),
    }
}

/// Returns what git says of submodules.
fn submodules_of(
    git: &Git,
    view: &View,
    deadline: Instant,
    notes: &mut Vec<String>,
) -> Vec<Vec<u8>> {
    submodules::dirty(git, view, deadline, submodules::DEPTH_MAX).unwrap_or_else(|_| {
        notes.push("git: not all submodules were looked at".into());
        Vec::new()
    })
}

fn filters_not_run(filters: &[String]) -> String {
    format!(
        "git: filters of the repository's own configuration were not run ({}): a file under one that was written counts \
         as changed, although it may hold the same",
        shown(filters)
    )
}

/// Adds the files of commits that the turn left, but for those that are known already; returns their paths.
fn add_left(
    files: &mut Vec<ChangedFile>,
    mut left: Vec<ChangedFile>,
    notes: &mut Vec<String>,
) -> BTreeSet<String> {
    left.retain(|file| files.iter().all(|known| known.path != file.path));
    let paths: BTreeSet<String> = left.iter().map(|file| file.path.clone()).collect();
    if !left.is_empty() {
        notes.push(format!(
            "git: the turn made commits that HEAD does not have; {} of their files count as they are there",
            left.len()
        ));
        files.extend(left);
        files.sort_unstable();
    }
    paths
}

/// Sorts paths and cuts them to the first `max`, with a note if there are more. Those that the turn's calls name come
/// first, and untracked ones last: a folder of thousands of downloaded files says nothing about the turn.
fn limit(
    paths: &mut Vec<&[u8]>,
    named: &Within,
    untracked: &[&[u8]],
    max: usize,
    notes: &mut Vec<String>,
) {
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > max {
        notes.push(format!(
            "git: {} changed; only {max} count",
            text::count(paths.len(), "file", "files"),
        ));
        let untracked: HashSet<&[u8]> = untracked.iter().copied().collect();
        paths.sort_by_cached_key(|path| {
            let is_named = named.has(&String::from_utf8_lossy(path));
            (!is_named, untracked.contains(path))
        });
        paths.truncate(max);
        paths.sort_unstable();
    }
}

/// Hashes the contents of files, those that the turn's calls name first, and shows them to `held`. Returns when they
/// were written, too.
fn hashed(
    paths: Vec<&[u8]>,
    first: &Within,
    contents: &mut Contents<'_>,
    mut held: Option<&mut Held<'_>>,
) -> (Vec<ChangedFile>, HashMap<String, Times>) {
    // Different names that are not UTF-8 may become equal; the first one's content is used.
    let mut named: Vec<(String, &[u8])> = paths
        .into_iter()
        .map(|path| (String::from_utf8_lossy(path).into_owned(), path))
        .collect();
    named.sort_unstable();
    named.dedup_by(|later, first| later.0 == first.0);
    named.sort_by_cached_key(|(path, _)| !first.has(path));
    let mut times = HashMap::new();
    let mut hash = |(path, raw): (String, &[u8])| {
        let hash = contents.hash(raw);
        times.extend(contents.times().map(|at| (path.clone(), at)));
        if let (Some(held), Some(content)) = (held.as_deref_mut(), contents.last()) {
            held.see(&path, raw, content);
        }
        ChangedFile { path, hash }
    };
    let mut files: Vec<ChangedFile> = named.into_iter().map(&mut hash).collect();
    files.sort_unstable();
    (files, times)
}

/// Names a few filters. Their names come from the repository: nothing but plain characters is shown.
fn shown(filters: &[String]) -> String {
    const FILTERS_MAX: usize = 5;
    const CHARS_MAX: usize = 40;
    let plain = |name: &String| -> String {
        let chars = name.chars().take(CHARS_MAX);
        chars
            .map(|char| if char.is_ascii_graphic() { char } else { '?' })
            .collect()
    };
    let names: Vec<_> = filters.iter().take(FILTERS_MAX).map(plain).collect();
    names.join(", ")
}

/// Returns the word for why git's answer cannot be used.
fn refusal(output: &Output, is_bare: bool) -> &'static str {
    let says = |words: &[u8]| {
        let mut parts = output.stderr.windows(words.len());
        !output.is_good() && parts.any(|part| part == words)
    };
    if is_bare || says(b"cannot use bare repository") {
        "bare_repository"
    } else if says(b"not a git repository") {
        "not_a_repository"
    } else {
        "git_failed"
    }
}

/// Returns the note for a failed command, or `None` if the word of [`refusal`] says enough.
fn complaint(output: &Output, is_bare: bool) -> Option<String> {
    let what = if output.is_good() {
        "the answer was not understood".to_owned()
    } else {
        output.complaint()
    };
    (refusal(output, is_bare) == "git_failed").then(|| format!("git: {what}"))
}
