//! A repository seen without its own configuration.
//!
//! Git reads a repository's configuration whenever it runs, so a check a moment ago says nothing about what git will
//! read. Only the two commands that find the repository and list its settings read the real one; neither runs anything
//! that a configuration names. All others get a private folder in place of `.git`: links to what holds data, and a
//! configuration with those settings that say how files are read and no others.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::command::{Failure, Git, Output, Waiting, words};
use super::parse::{self, Setting};
use super::private::{Folder, Left, Sources};
use super::{kept, listing};

/// Settings that are taken over: how files are compared, where lists of ignored files are, how the repository is stored,
/// and which branch follows which. None names a program.
const SETTINGS: [&str; 22] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "diff.ignoresubmodules",
    "extensions.objectformat",
    "extensions.refstorage",
    "index.sparse",
];
/// Like [`SETTINGS`], with a name between the two words.
const NAMED_SETTINGS: [(&str, &str); 4] = [
    ("submodule", "ignore"),
    ("branch", "remote"),
    ("branch", "merge"),
    ("remote", "fetch"),
];
/// What is set for each filter that is not run. `required` would make a missing program an error.
const FILTER_SETTINGS: [(&[u8], &[u8]); 4] = [
    (b"clean", b""),
    (b"smudge", b""),
    (b"process", b""),
    (b"required", b"false"),
];

/// Why a repository cannot be examined.
#[derive(Debug)]
pub(super) enum Closed {
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

/// What git says of a repository: where it is, and what its configuration says.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) git_dir: PathBuf,
    /// The top of the work tree.
    pub(super) top: PathBuf,
    /// The names of the filters that the repository's configuration defines, which are not run.
    pub(super) filters: Vec<String>,
    /// The repository that this one is a clone of.
    pub(super) remote: Option<String>,
    /// The files that were listed last.
    pub(super) listing: listing::Last,
    /// The private folder that the last look left.
    folder: Left,
    /// The configuration of private folders.
    config: Vec<u8>,
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
        if let Some(folder) = self.folder.take().filter(|_| self.git.kept.keeps_folders()) {
            self.found.folder.put(folder);
        }
    }
}

impl View {
    /// Finds the repository around `cwd`. Git is not asked if it said before what it would say now (`kept.rs`).
    pub(super) fn open(git: &Git, cwd: &Path, deadline: Instant) -> Result<Self, Closed> {
        if let Some(found) = git.kept.get(git, cwd)
            && let Ok(view) = Self::of(git, cwd, found)
        {
            return Ok(view);
        }
        let began = SystemTime::now();
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
        if listing.stdout.len() <= kept::LISTING_BYTES_MAX {
            let system = || view.run(&[words("var GIT_CONFIG_SYSTEM")], deadline).ok();
            git.kept
                .keep((git, cwd), &view.found, &settings, began, system);
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

impl Found {
    fn new((git_dir, top): (&[u8], &[u8]), settings: &[Setting<'_>]) -> Self {
        let path = |bytes: &[u8]| Path::new(OsStr::from_bytes(bytes)).to_owned();
        let filters = filters(settings);
        Self {
            git_dir: path(git_dir),
            top: path(top),
            config: config(settings, &filters),
            filters: filters
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect(),
            remote: remote(settings),
            listing: listing::Last::default(),
            folder: Left::default(),
        }
    }
}

pub(super) fn not_understood() -> Failure {
    Failure::System(io::Error::other("the answer was not understood"))
}

/// Returns the repository that this one is a clone of: its `origin`, else the first remote that names one.
fn remote(settings: &[Setting<'_>]) -> Option<String> {
    let mut first = None;
    for Setting { key, value, .. } in settings {
        let Some((b"remote", Some(name), b"url")) = parse::key(key) else {
            continue;
        };
        let url = value.and_then(|value| std::str::from_utf8(value).ok());
        let found = url.and_then(checkpoint::project::remote);
        if name == b"origin" && found.is_some() {
            return found;
        }
        first = first.or(found);
    }
    first
}

/// Returns the names of the filters that must not run, because the repository's own configuration defines them or, for
/// git-lfs, gives them programs to run.
fn filters<'a>(settings: &[Setting<'a>]) -> BTreeSet<&'a [u8]> {
    let own = settings.iter().filter(|setting| !setting.is_of_user);
    own.filter_map(|setting| match setting.key {
        key if key.starts_with(b"lfs.extension.") => Some(&b"lfs"[..]),
        key => Some(parse::split_key(key.strip_prefix(b"filter.")?)?.0),
    })
    .collect()
}

/// Renders the configuration of the private folder.
///
/// Git reads the user's own configuration too. It is repeated here because parts of it may apply only to repositories in
/// certain folders, and the private one is in none of them.
fn config(settings: &[Setting<'_>], filters: &BTreeSet<&[u8]>) -> Vec<u8> {
    let mut text = b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n".to_vec();
    for Setting {
        key,
        value,
        is_of_user,
        ..
    } in settings
    {
        let Some((section, name, variable)) = parse::key(key) else {
            continue;
        };
        let is_named =
            |known: &(&str, &str)| known.0.as_bytes() == section && known.1.as_bytes() == variable;
        let is_taken = match name {
            None => SETTINGS.iter().any(|known| known.as_bytes() == *key),
            Some(_) => NAMED_SETTINGS.iter().any(is_named) || *is_of_user && section == b"filter",
        };
        if is_taken {
            set(&mut text, section, name, variable, *value);
        }
    }
    for name in filters {
        for (variable, value) in FILTER_SETTINGS {
            set(&mut text, b"filter", Some(name), variable, Some(value));
        }
    }
    text
}

/// Adds a setting in the form of git's configuration files. Without a value it is true.
fn set(
    text: &mut Vec<u8>,
    section: &[u8],
    name: Option<&[u8]>,
    variable: &[u8],
    value: Option<&[u8]>,
) {
    text.push(b'[');
    text.extend(section);
    if let Some(name) = name {
        text.push(b' ');
        quote(text, name);
    }
    text.extend(b"]\n\t");
    text.extend(variable);
    if let Some(value) = value {
        text.extend(b" = ");
        quote(text, value);
    }
    text.push(b'\n');
}

fn quote(text: &mut Vec<u8>, value: &[u8]) {
    text.push(b'"');
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
}
