//! What changed files hold now, and held before the turn (spec FILES-10).

use std::collections::BTreeSet;
use std::time::Instant;

use checkpoint::project::{is_loosened, is_test};
use checkpoint::{comments, generated, manifest};
use journal::{FileFacts, Timestamp};

use super::command::{Failure, Waiting, words};
use super::view::View;
use super::{head, parse};

/// The most files whose content before the turn is read.
const COMPARED_MAX: usize = 40;
/// The longest manifest that is read, in bytes.
const MANIFEST_BYTES_MAX: usize = 256 * 1024;
/// The longest file whose comments are separated from its code, in bytes.
const CODE_BYTES_MAX: usize = 128 * 1024;
/// The most files of code that are compared.
const CODE_FILES_MAX: usize = 24;

/// Collects what changed files hold as they are read.
pub(super) struct Held<'a> {
    facts: FileFacts,
    /// Files that may hold what they held before the turn.
    doubtful: BTreeSet<&'a [u8]>,
    /// Files that have to be compared with what they held before the turn, with their content.
    compared: Vec<(String, Vec<u8>)>,
    /// Whether to note files of which only comments changed.
    tells_comments: bool,
    /// How many files of code may still be compared.
    code_left: usize,
}

impl<'a> Held<'a> {
    /// Creates a collection; `doubtful` are the files that may hold what they held before the turn.
    pub(super) fn new(doubtful: BTreeSet<&'a [u8]>, comments: bool) -> Self {
        Self {
            facts: FileFacts::default(),
            doubtful,
            compared: Vec::new(),
            tells_comments: comments,
            code_left: if comments { CODE_FILES_MAX } else { 0 },
        }
    }

    /// Looks at a file's content; `raw` is its path as git gave it.
    pub(super) fn see(&mut self, path: &str, raw: &[u8], content: &[u8]) {
        let is_manifest = manifest::format(path).is_some() && content.len() <= MANIFEST_BYTES_MAX;
        if generated::is_generated(content) {
            self.facts.generated.push(path.to_owned());
        }
        let may_be_comments =
            self.code_left > 0 && content.len() <= CODE_BYTES_MAX && comments::are_known(path);
        self.code_left -= usize::from(may_be_comments);
        let is_wanted =
            is_manifest || self.doubtful.contains(raw) || content.is_empty() || may_be_comments;
        if is_wanted && self.compared.len() < COMPARED_MAX {
            self.compared.push((path.to_owned(), content.to_vec()));
        }
    }

    /// Compares what has to be with the commit that `commit` names, the last one before the turn.
    ///
    /// Files that git does not answer for in time count as changed. Git is asked while `meanwhile` runs, which does not
    /// if there is nothing to compare.
    pub(super) fn compare(
        mut self,
        reader: Reader<'_>,
        commit: impl FnOnce() -> Option<String>,
        deadline: Instant,
        meanwhile: impl FnOnce(),
    ) -> FileFacts {
        if self.compared.is_empty() {
            return self.facts;
        }
        let names = |commit: String| {
            let paths = self.compared.iter();
            let name = |(path, _): &(String, _)| name(Some(&commit), path.as_bytes());
            paths.map(name).collect::<Vec<_>>()
        };
        let before = match commit().map(names) {
            None => vec![None; self.compared.len()],
            Some(names) => match reader.read(&names, deadline, meanwhile) {
                Ok(before) => before,
                Err(_) => return self.facts,
            },
        };
        for ((path, now), before) in self.compared.iter().zip(before) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let same_code = |before: &Vec<u8>| comments::same_code(path, &text(before), &text(now));
            if before.as_ref() == Some(now) {
                self.facts.restored.push(path.clone());
            } else if now.is_empty() && before.is_none() {
                self.facts.empty.push(path.clone());
            } else if self.tells_comments && before.as_ref().is_some_and(same_code) {
                self.facts.comments_only.push(path.clone());
            }
            let before = before.as_deref().map(text);
            if is_test(path)
                && !now.is_empty()
                && before
                    .as_ref()
                    .is_some_and(|before| is_loosened(before, &text(now)))
            {
                self.facts.loosened.push(path.clone());
            }
            if let Some(format) = manifest::format(path)
                && manifest::names_the_same(format, before.as_deref(), &text(now))
            {
                self.facts.same_dependencies.push(path.clone());
            }
        }
        self.facts
    }
}

/// A git that reads files of commits. It is started before it is known which files: it is ready by then.
pub(super) struct Reader<'v> {
    pub(super) view: &'v View,
    waiting: Option<Waiting>,
}

impl<'v> Reader<'v> {
    pub(super) const fn new(view: &'v View) -> Self {
        Self {
            view,
            waiting: None,
        }
    }

    pub(super) fn start(&mut self) {
        self.waiting = self.new_one().ok();
    }

    /// Reads files of commits, each by its [`name`]; `None` for one that is missing. If git's answer is cut, the last ones
    /// are missing. `meanwhile` runs while git works.
    pub(super) fn read(
        mut self,
        names: &[Vec<u8>],
        deadline: Instant,
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        let git = self.waiting.take().map_or_else(|| self.new_one(), Ok)?;
        let output = git.feed_while(&names.concat(), deadline, meanwhile)?;
        let mut rest = output.stdout.as_slice();
        let mut read = || parse::blob(&mut rest).map(<[u8]>::to_vec);
        Ok(names.iter().map(|_| read()).collect())
    }

    fn new_one(&self) -> Result<Waiting, Failure> {
        self.view.start(&words("cat-file --batch"))
    }
}

/// Returns the name of a file in a commit, as `git cat-file --batch` reads it. Without a commit, and of a path that cannot be
/// asked for, it names nothing.
pub(super) fn name(commit: Option<&str>, path: &[u8]) -> Vec<u8> {
    match commit.filter(|_| !path.contains(&b'\n')) {
        Some(commit) => [commit.as_bytes(), b":", path, b"\n"].concat(),
        None => b":\n".to_vec(),
    }
}

/// Returns the newest commit from before the turn, in whole seconds: HEAD if nothing was committed since.
pub(super) fn commit_before(view: &View, since: Timestamp, deadline: Instant) -> Option<String> {
    let second = head::second(since) - 1;
    let call = words(&format!(
        "rev-list --max-count=1 --min-age={second} HEAD --"
    ));
    parse::object_id(&view.ask(call, deadline)?.stdout)
}
