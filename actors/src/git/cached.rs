//! What git said of a repository, for as long as it would say the same again.
//!
//! Where a repository is and what its configuration says depends on files and folders only: the folders from the current
//! one up to the top, the parts that make a folder a repository, and the configuration files, those that are missing
//! included. A [`Basis`] names all of them. An answer is used again if each of them is the same as then. Whatever is not
//! understood here is not kept, and git is asked each time.
//!
//! Git itself then reads a private folder (`private.rs`), whose configuration is made from the answer and has no setting
//! that names a program. So an answer that was wrongly used again would run nothing either.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{self, Git};
use super::found::Found;
use super::mark::Mark;
use super::parse::{self, Setting};
use super::private::{SMALL_BYTES_MAX, common_dir};
use crate::named_file;
use journal::Timestamp;
use parking_lot::Mutex;

/// The longest list of settings whose answer is kept, in bytes.
pub(super) const LISTING_BYTES_MAX: usize = 64 * 1024;
/// The most answers that are kept. Tests look at many repositories at once.
const KEPT_MAX: usize = if cfg!(test) { 1_024 } else { 32 };
/// The most paths that one answer may depend on.
const PATHS_MAX: usize = 256;
/// The last one was used last.
static ANSWERS: Mutex<Vec<Answer>> = Mutex::new(Vec::new());

/// Keeps private folders between looks from now on, until [`remove_private_folders`] is called.
pub fn keep_private_folders() {
    command::keep_folders(true);
}

/// Removes the private folders that were kept, and keeps none from now on. Those that are in use are removed after that.
pub fn remove_private_folders() {
    command::keep_folders(false);
    let gone = std::mem::take(&mut *ANSWERS.lock());
    drop(gone);
}

#[derive(Clone)]
struct Answer {
    git: Git,
    cwd: PathBuf,
    found: Arc<Found>,
    basis: Arc<Basis>,
}

impl Answer {
    fn is_for(&self, git: &Git, cwd: &Path) -> bool {
        self.git == *git && self.cwd == cwd
    }
}

/// Returns what git said of the repository around `cwd`, if it would say the same now.
pub(super) fn get(git: &Git, cwd: &Path) -> Option<Arc<Found>> {
    let mut answers = ANSWERS.lock();
    let at = answers.iter().position(|one| one.is_for(git, cwd))?;
    let answer = answers.remove(at);
    answers.push(answer.clone());
    drop(answers);
    // Not under the lock: a file system may hang.
    answer.basis.holds().then_some(answer.found)
}

/// Returns the main work tree of the repository that a folder was a linked work tree of when git was asked last. The
/// folder may be gone.
pub(crate) fn main_tree(folder: &Path) -> Option<PathBuf> {
    let answers = ANSWERS.lock();
    let mut last = answers.iter().rev();
    let found = last
        .find(|one| folder.starts_with(&one.found.top))?
        .found
        .clone();
    drop(answers);
    let linked = found.git_dir.parent()?;
    let is_linked = linked.file_name().is_some_and(|name| name == "worktrees");
    let common = linked.parent().filter(|_| is_linked)?;
    let top = common.parent().filter(|_| common.ends_with(".git"))?;
    top.is_dir().then(|| top.to_owned())
}

/// Returns the git directory that all work trees of a folder's repository share, without asking git.
pub(crate) fn shared_dir(top: &Path) -> Option<String> {
    let shared = common_dir(&repository(top)?).canonicalize().ok()?;
    Some(shared.to_string_lossy().into_owned())
}

/// Keeps what git said from `began` on, if it is known what that depends on.
pub(super) fn keep(
    (git, cwd): (&Git, &Path),
    found: &Arc<Found>,
    settings: &[Setting<'_>],
    began: Timestamp,
) {
    let Some(basis) = Basis::new((git, cwd), found, settings, began) else {
        return;
    };
    let answer = Answer {
        git: git.clone(),
        cwd: cwd.to_owned(),
        found: found.clone(),
        basis: Arc::new(basis),
    };
    let mut answers = ANSWERS.lock();
    let is_same = |one: &Answer| one.is_for(git, cwd);
    let gone = enter(&mut answers, answer, is_same, KEPT_MAX);
    // Their private folders are removed, which takes a while.
    drop(answers);
    drop(gone);
}

/// Adds one in place of those that are the same, as the last one used, and returns what has to go: at most `max` stay.
fn enter<T>(kept: &mut Vec<T>, one: T, is_same: impl Fn(&T) -> bool, max: usize) -> Vec<T> {
    let mut gone: Vec<T> = kept.extract_if(.., |other| is_same(other)).collect();
    kept.push(one);
    let surplus = kept.len().saturating_sub(max);
    gone.extend(kept.drain(..surplus));
    gone
}

/// What an answer depends on.
struct Basis {
    /// Paths and where they lead: the current folder, and the user's home if there is one.
    real: Vec<(PathBuf, PathBuf)>,
    /// The top of the work tree and the repository that its `.git` leads to.
    top: PathBuf,
    git_dir: PathBuf,
    /// Paths and the state of each.
    marks: Vec<(PathBuf, Mark)>,
}

impl Basis {
    fn new(
        (git, cwd): (&Git, &Path),
        found: &Found,
        settings: &[Setting<'_>],
        began: Timestamp,
    ) -> Option<Self> {
        let Found { git_dir, top, .. } = found;
        let home = match git.variable("HOME") {
            Some(home) => Some(absolute(home.into())?),
            None => None,
        };
        let mut real = Vec::new();
        for path in [Some(cwd), home.as_deref()].into_iter().flatten() {
            real.push((path.to_owned(), path.canonicalize().ok()?));
        }
        let is_placed = git.variable("GIT_WORK_TREE").is_some();
        if !is_placed && settings.iter().any(|it| it.key == b"core.worktree") {
            return None;
        }
        let way = way(&real.first()?.1, top, is_placed)?;
        let common = common_dir(git_dir);
        let mut paths = way.folders;
        paths.extend([top.join(".git"), git_dir.clone(), common.clone()]);
        paths.extend(["commondir", "config.worktree"].map(|name| git_dir.join(name)));
        paths.extend(["objects", "refs", "config"].map(|name| common.join(name)));
        paths.extend(of_user(git, home.as_deref())?);
        let program = git.program.clone()?;
        paths.extend(of_system(&program));
        paths.push(program);
        for setting in settings {
            // Some builds of git read one more file.
            paths.push(top.join(origin(setting)?));
            paths.extend(included(setting, top, home.as_deref())?);
        }
        paths.sort_unstable();
        paths.dedup();
        if paths.len() + way.missing.len() > PATHS_MAX {
            return None;
        }
        let missing = way.missing.into_iter().map(|path| (path, Mark::Missing));
        let mut marks: Vec<_> = missing.collect();
        for path in paths {
            let mark = Mark::before(&path, began)?;
            marks.push((path, mark));
        }
        let basis = Self {
            real,
            top: top.clone(),
            git_dir: git_dir.clone(),
            marks,
        };
        basis.holds().then_some(basis)
    }

    /// Returns whether git would give the same answer.
    fn holds(&self) -> bool {
        let leads_there = |(path, real): &(PathBuf, PathBuf)| {
            path.canonicalize().is_ok_and(|leads_to| leads_to == *real)
        };
        let is_same = |(path, mark): &(PathBuf, Mark)| Mark::of(path).as_ref() == Some(mark);
        self.real.iter().all(leads_there)
            && self.marks.iter().all(is_same)
            && repository(&self.top).is_some_and(|git_dir| git_dir == self.git_dir)
            && has_head(&self.git_dir)
    }
}

/// The way on which git finds a repository.
struct Way {
    /// From the current folder to the top.
    folders: Vec<PathBuf>,
    /// What would make a folder below the top a repository: `.git`, or a `HEAD` of its own.
    missing: Vec<PathBuf>,
}

/// Returns the way from a folder, whose links are resolved, up to the top. `None` if the top is somewhere else.
fn way(from: &Path, top: &Path, is_placed: bool) -> Option<Way> {
    if !from.starts_with(top) || is_placed && from != top {
        return None;
    }
    let below: Vec<&Path> = from.ancestors().take_while(|path| *path != top).collect();
    let missing = below
        .iter()
        .flat_map(|folder| [folder.join(".git"), folder.join("HEAD")]);
    Some(Way {
        missing: missing.collect(),
        folders: below.into_iter().chain([top]).map(Path::to_owned).collect(),
    })
}

/// Returns the repository that the `.git` in a folder is, or that is named in it. `None` if it is a link: its owner counts
/// too, and a [`Mark`] has only that of what it leads to.
fn repository(top: &Path) -> Option<PathBuf> {
    let path = top.join(".git");
    if path.symlink_metadata().ok()?.is_dir() {
        return path.canonicalize().ok();
    }
    let bytes = named_file::bytes(&path, SMALL_BYTES_MAX).ok()?;
    let leads_to = bytes.strip_prefix(b"gitdir: ")?.strip_suffix(b"\n")?;
    top.join(OsStr::from_bytes(leads_to)).canonicalize().ok()
}

/// Returns whether a folder has a `HEAD` that lets git take it for a repository: the name of a ref, or a commit.
fn has_head(git_dir: &Path) -> bool {
    let path = git_dir.join("HEAD");
    if let Ok(name) = fs::read_link(&path) {
        return name.starts_with("refs");
    }
    named_file::bytes(&path, SMALL_BYTES_MAX)
        .is_ok_and(|head| head.starts_with(b"ref: refs/") || parse::object_id(&head).is_some())
}

/// Returns the user's configuration files, whether they exist or not.
fn of_user(git: &Git, home: Option<&Path>) -> Option<Vec<PathBuf>> {
    let named = git.variable("XDG_CONFIG_HOME").filter(|it| !it.is_empty());
    let folder = match named {
        Some(named) => Some(absolute(named.into())?),
        None => home.map(|home| home.join(".config")),
    };
    let other = folder.map(|folder| folder.join("git/config"));
    let files = other.into_iter();
    Some(
        files
            .chain(home.map(|home| home.join(".gitconfig")))
            .collect(),
    )
}

/// Returns where the system's configuration file may be, whether it exists or not. One at another place that has settings is
/// known by them.
fn of_system(program: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = program.parent().and_then(Path::parent);
    let roots = [beside, Some(Path::new("/"))].into_iter().flatten();
    roots.map(|root| root.join("etc/gitconfig"))
}

/// Returns the file in which a setting is; `None` if it is in none.
fn origin<'a>(setting: &Setting<'a>) -> Option<&'a Path> {
    let path = setting.origin.strip_prefix(b"file:")?;
    Some(Path::new(OsStr::from_bytes(path)))
}

/// Returns the file that a setting includes, whether it exists or not, and whether it is included now or not. `None` if it
/// is not known which file that is, or if its condition depends on anything else than what a [`Basis`] has.
fn included(setting: &Setting<'_>, top: &Path, home: Option<&Path>) -> Option<Vec<PathBuf>> {
    match parse::key(setting.key) {
        Some((b"include", None, b"path")) => {}
        Some((b"includeif", Some(condition), b"path")) => {
            let after = |start: &[u8]| condition.strip_prefix(start);
            let is_known = match after(b"gitdir:").or_else(|| after(b"gitdir/i:")) {
                // `.` would be the folder of the file, with its links resolved.
                Some(pattern) => !pattern.starts_with(b"."),
                None => condition.starts_with(b"hasconfig:remote.*.url:"),
            };
            is_known.then_some(())?;
        }
        Some((b"include" | b"includeif", ..)) => return None,
        _ => return Some(Vec::new()),
    }
    let value = setting.value?;
    let path = |bytes| Path::new(OsStr::from_bytes(bytes));
    if let Some(below) = value.strip_prefix(b"~/") {
        return Some(vec![home?.join(path(below))]);
    }
    // Another user's home, the folder of the program, or an option.
    if matches!(value.first(), None | Some(b'~' | b'%' | b':')) {
        return None;
    }
    let folder = top.join(origin(setting)?.parent()?);
    Some(vec![folder.join(path(value))])
}

fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::enter;

    #[test]
    fn the_least_recently_used_goes_when_there_are_too_many() {
        let mut kept = Vec::new();
        let mut add = |name: char, number| {
            let is_same = |other: &(char, u32)| other.0 == name;
            let gone = enter(&mut kept, (name, number), is_same, 2);
            (kept.clone(), gone)
        };
        assert_eq!(add('a', 1).1, []);
        assert_eq!(add('b', 2).1, []);
        assert_eq!(add('a', 3), (vec![('b', 2), ('a', 3)], vec![('a', 1)]));
        assert_eq!(add('c', 4), (vec![('a', 3), ('c', 4)], vec![('b', 2)]));
    }
}
