//! A repository seen without its own configuration.
//!
//! Git reads a repository's configuration whenever it runs, so a check a moment ago says nothing about what git will
//! read. Only the two commands that find the repository and list its settings read the real one; neither runs anything
//! that a configuration names. All others get a private folder in place of `.git`: links to what holds data, and a
//! configuration with those settings that say how files are read and no others.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use journal::Timestamp;

use super::command::{Failure, Git, Output, Waiting, words};
use super::found::Found;
use super::private::{Folder, Sources};
use super::{cached, parse};

/// Why a repository cannot be examined.
#[derive(Debug)]
pub(super) enum Closed {
    /// There is no such folder. It would look like a missing git, and an empty path would mean the daemon's own folder.
    NoFolder,
    Failed(Failure),
    /// Git refused.
    Refused {
        output: Output,
        is_bare: bool,
    },
}

impl From<Failure> for Closed {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for Closed {
    fn from(error: io::Error) -> Self {
        Self::Failed(Failure::System(error))
    }
}

/// A repository, and the private folder that replaces its `.git`.
#[derive(Debug)]
pub(super) struct View {
    git: Git,
    cwd: PathBuf,
    pub(super) found: Arc<Found>,
    /// `None` only at the end.
    folder: Option<Folder>,
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take().filter(|_| self.git.keeps) {
            self.found.folder.put(folder);
        }
    }
}

impl View {
    /// Finds the repository around `cwd`. Git is not asked if it said before what it would say now (`kept.rs`).
    pub(super) fn open(git: &Git, cwd: &Path, deadline: Instant) -> Result<Self, Closed> {
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(Closed::NoFolder);
        }
        if let Some(found) = cached::get(git, cwd)
            && let Ok(view) = Self::of(git, cwd, found)
        {
            return Ok(view);
        }
        let began = Timestamp::now();
        let calls = [
            words("config --list --show-scope --show-origin -z"),
            words(
                "rev-parse --is-bare-repository --absolute-git-dir --is-inside-work-tree --show-toplevel",
            ),
        ];
        let outputs = git.run(cwd, &calls, deadline)?;
        let [listing, place] = outputs.as_slice() else {
            return Err(not_understood().into());
        };
        let place_found = parse::place(&place.stdout);
        for output in [listing, place] {
            if !output.is_good() {
                let output = output.clone();
                let is_bare = place_found.is_bare;
                return Err(Closed::Refused { output, is_bare });
            }
        }
        // Half a list would leave a filter out.
        let settings = parse::settings(&listing.stdout)
            .filter(|_| !listing.is_cut)
            .ok_or_else(not_understood)?;
        let paths = place_found.paths.ok_or_else(not_understood)?;
        let view = Self::of(git, cwd, Arc::new(Found::new(paths, &settings)))?;
        if listing.stdout.len() <= cached::LISTING_BYTES_MAX {
            cached::keep((git, cwd), &view.found, &settings, began);
        }
        Ok(view)
    }

    /// Makes the private folder of a repository that was found, or takes the one that an earlier look left.
    fn of(git: &Git, cwd: &Path, found: Arc<Found>) -> Result<Self, Closed> {
        let sources = Sources::of(&found.git_dir)?;
        let folder = match found.folder.take(&sources) {
            Some(folder) => folder,
            None => Folder::make(git.folder()?, &found.git_dir, sources, &found.config)?,
        };
        let git = git.with([("GIT_DIR", folder.git_dir()), ("GIT_WORK_TREE", &found.top)]);
        Ok(Self {
            git,
            cwd: cwd.to_owned(),
            found,
            folder: Some(folder),
        })
    }

    /// Runs git in the folder that the repository was opened at, once for each list of arguments, all at the same time.
    pub(super) fn run(
        &self,
        calls: &[Vec<String>],
        deadline: Instant,
    ) -> Result<Vec<Output>, Failure> {
        self.git.run(&self.cwd, calls, deadline)
    }

    /// Runs git once; `None` if it fails, or gives no answer until the deadline.
    pub(super) fn ask(&self, call: Vec<String>, deadline: Instant) -> Option<Output> {
        let output = self.run(&[call], deadline).ok()?.pop();
        output.filter(Output::is_good)
    }

    /// Like [`View::run`], and does something else when all have started.
    pub(super) fn run_while(
        &self,
        calls: &[Vec<String>],
        deadline: Instant,
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<Output>, Failure> {
        self.git.run_while(&self.cwd, calls, deadline, meanwhile)
    }

    /// Starts git; it waits for its input.
    pub(super) fn start(&self, call: &[String]) -> Result<Waiting, Failure> {
        self.git.start(&self.cwd, call)
    }
}

pub(super) fn not_understood() -> Failure {
    Failure::System(io::Error::other("the answer was not understood"))
}
