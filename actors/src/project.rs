//! A project as it is now: its policy, and what of its own file counts (spec RULE-14 and RULE-16).

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkpoint::Policy;
use checkpoint::config::{Config, ProjectFile};
use checkpoint::policy::Edition;
use checkpoint::rules::pack_names::ProjectFacts;
use checkpoint::rules::packs;
use journal::ChangedFile;

use crate::named_file;
use crate::trust::{Standing, Trust};

/// Name of a project's own settings file.
pub const FILE: &str = ".checkpointd.yml";
/// Larger files of a project are not read.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Maximum number of folders above an agent's that are examined.
const ROOT_LEVELS_MAX: usize = 32;
/// The most names at a project's top that are listed.
const NAMES_MAX: usize = 2_000;
/// The most parts of a file that a note names.
const PARTS_MAX: usize = 5;

/// The result of the settings and a project's own file.
#[derive(Clone, Debug)]
pub struct Project {
    /// The policy in force.
    pub policy: Policy,
    /// Whether the user trusts the project's file; `None` if there is none that can be used.
    pub standing: Option<Standing>,
    /// The keys and rules of the file that wait for the user's trust.
    pub waiting: Vec<String>,
    /// What of the file is not used, and why, one line each. A line may quote names of the file.
    pub notes: Vec<String>,
    /// The top folder, and what the packs depend on.
    pub facts: ProjectFacts,
    /// The project's own file, if it can be used.
    pub file: Option<ProjectFile>,
    /// Why the file as a whole is not used; one of the notes.
    pub problem: Option<String>,
}

/// Returns the top folder of the project that a folder belongs to (spec RULE-20).
pub fn root(config: &Config, folder: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut above = folder
        .ancestors()
        .take(ROOT_LEVELS_MAX)
        // A home folder that is a repository is no project of everything below it.
        .take_while(|above| *above == folder || Some(*above) != home.as_deref());
    // What another user puts into a folder above, such as /tmp, makes no project.
    let is_root = |above: &&Path| {
        let git = std::fs::symlink_metadata(above.join(".git"));
        git.is_ok_and(|git| *above == folder || is_own(&git)) || has_own_file(above)
    };
    let found = if config.settings.judgment != Edition::Letter && folder.is_absolute() {
        above.find(is_root)
    } else {
        None
    };
    found.unwrap_or(folder).to_owned()
}

/// Returns whether a file or folder belongs to this user or root.
fn is_own(meta: &Metadata) -> bool {
    [rustix::process::geteuid().as_raw(), 0].contains(&meta.uid())
}

/// Returns whether a folder has a file of settings that only this user and root can write or replace. A group counts as
/// the user's own if it is that of the process: many systems give each user one.
fn has_own_file(folder: &Path) -> bool {
    let group = rustix::process::getegid().as_raw();
    let is_safe = |path: &Path| {
        std::fs::symlink_metadata(path).is_ok_and(|meta| {
            let is_shared = meta.mode() & 0o020 != 0 && meta.gid() != group;
            // A link has no permissions of its own, and is not read.
            is_own(&meta) && (meta.is_symlink() || meta.mode() & 0o002 == 0 && !is_shared)
        })
    };
    is_safe(folder) && is_safe(&folder.join(FILE))
}

impl Project {
    /// Looks at the project in `folder`. What cannot be used of its file is left out, with a note that says why.
    pub fn look(config: &Config, trust: &Trust, folder: &str) -> Self {
        let top = &root(config, Path::new(folder));
        let (facts, mut notes) = (facts(top), Vec::new());
        let read = read_file(config, trust, top, &mut notes);
        let (file, standing) = read.map_or((None, None), |(file, standing)| {
            (Some(file), Some(standing))
        });
        let is_trusted = standing == Some(Standing::Trusted);
        let mut project = Self {
            policy: config.policy_with(&facts, file.as_ref(), is_trusted),
            standing,
            waiting: Vec::new(),
            // No earlier note exists.
            problem: notes.first().cloned(),
            notes,
            facts,
            file,
        };
        if let Some(file) = project.file.as_ref().filter(|_| is_trusted) {
            let overruled = file.overruled(&config.settings).into_iter();
            let notes = overruled.map(|line| format!("{FILE}: {line}"));
            project.notes.extend(notes);
        } else if let Some(file) = &project.file {
            project.waiting = file.needs_trust();
            project.notes.extend(project.waits());
        }
        project
    }

    /// Adds more files of the project, which may switch on more packs (spec RULE-2).
    pub fn add_files(&mut self, config: &Config, files: Vec<String>) {
        if files.is_empty() {
            return;
        }
        self.facts.files.extend(files);
        let is_trusted = self.standing == Some(Standing::Trusted);
        self.policy = config.policy_with(&self.facts, self.file.as_ref(), is_trusted);
    }

    /// Returns the line that says what of the file waits for the user's trust, if anything does.
    pub fn waits(&self) -> Option<String> {
        let mut parts: Vec<_> = self.waiting.iter().take(PARTS_MAX).cloned().collect();
        let more = self.waiting.len() - parts.len();
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        let why = if self.standing == Some(Standing::Changed) {
            "was changed since you trusted it"
        } else {
            "is not trusted"
        };
        let parts = parts.join(", ");
        (!parts.is_empty())
            .then(|| format!("{FILE} {why}; not used: {parts} (`checkpointd rules trust`)"))
    }
}

/// Reads a file of rules and settings: a project's own, or one of another name, which may be anybody's.
///
/// # Errors
///
/// If there is none, it is no regular file, or it is too large; a project's own also if others than you and root can write
/// to it.
pub fn text(path: &Path) -> io::Result<String> {
    let text = named_file::text(path, FILE_BYTES_MAX)?;
    let is_own = path.file_name().is_some_and(|name| name == FILE);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match !is_own || has_own_file(folder.unwrap_or(Path::new("."))) {
        true => Ok(text),
        false => Err(io::Error::other(
            "others can write to it or to its folder; it must belong to you (`chown`, `chmod go-w`)",
        )),
    }
}

/// Reads a project's own file; none if there is none or it cannot be used, with a note that says why.
fn read_file(
    config: &Config,
    trust: &Trust,
    top: &Path,
    notes: &mut Vec<String>,
) -> Option<(ProjectFile, Standing)> {
    let path = top.join(FILE);
    let mut unused =
        |why: &dyn std::fmt::Display| notes.push(format!("{FILE} was not used: {why}"));
    let text = match text(&path) {
        Ok(text) => text,
        Err(error) => {
            if std::fs::symlink_metadata(&path).is_ok() {
                unused(&error);
            }
            return None;
        }
    };
    match config.project_file(FILE, &text) {
        Ok(file) => Some((file, trust.standing(top, &text))),
        Err(error) => {
            unused(&error.without_text());
            None
        }
    }
}

/// Returns what the packs of a project depend on.
pub fn facts(top: &Path) -> ProjectFacts {
    ProjectFacts {
        path: top.to_string_lossy().into_owned(),
        files: names(top),
    }
}

/// Maximum number of folders that are searched for them.
const FOLDERS_MAX: usize = 64;

/// Returns the files that switch on packs in the folders above changed files, without the top. Paths are relative to
/// `top`, the top of the work tree.
pub fn touched(top: &Path, changed: &[ChangedFile]) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for file in changed {
        let above = Path::new(&file.path).ancestors().skip(1);
        folders.extend(above.filter(|folder| !folder.as_os_str().is_empty()));
        if folders.len() >= FOLDERS_MAX {
            break;
        }
    }
    let places = folders.into_iter().take(FOLDERS_MAX).flat_map(|folder| {
        let named = packs::manifests().map(|name| folder.join(name));
        named.collect::<Vec<_>>()
    });
    let is_file = |path: &PathBuf| {
        top.join(path)
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file())
    };
    places
        .filter(is_file)
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Lists the names at a project's top; names of folders end with `/`.
fn names(top: &Path) -> Vec<String> {
    if top.as_os_str().is_empty() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(top) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .take(NAMES_MAX)
        .map(|entry| {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_dir { name + "/" } else { name }
        })
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_looked_for_above_changed_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path();
        for path in [
            "Cargo.toml",
            "backend/Cargo.toml",
            "backend/src/a/b.rs",
            "web/package.json",
            "web/app/x.ts",
            "other/go.mod",
        ] {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let changed = [
            "backend/src/a/b.rs",
            "web/app/x.ts",
            "web/gone/y.ts",
            "README.md",
        ]
        .map(|path| ChangedFile {
            path: path.into(),
            hash: None,
        });
        let found = touched(top, &changed);
        assert_eq!(found, ["backend/Cargo.toml", "web/package.json"]);
        assert_eq!(touched(top, &changed[3..]), [""; 0]);
        let config = Config::load(None).expect("the defaults");
        let trust = Trust::of(&journal::Home::under(top));
        let packs = |touched| {
            let mut project = Project::look(&config, &trust, &top.to_string_lossy());
            project.add_files(&config, touched);
            project.policy.packs
        };
        assert_eq!(packs(Vec::new()), ["rust", "generic"]);
        assert_eq!(packs(found), ["javascript", "rust", "generic"]);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod root_tests {
    use journal::Home;

    use super::*;

    #[test]
    fn an_agent_in_a_subfolder_keeps_its_project() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("shop");
        let deep = top.join("api/src");
        let vendored = top.join("vendor/pkg");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(top.join(".git")).unwrap();
        // A linked work tree and a submodule have a file.
        std::fs::create_dir_all(&vendored).unwrap();
        std::fs::write(vendored.join(".git"), "gitdir: elsewhere\n").unwrap();
        std::fs::write(top.join("Cargo.toml"), "").unwrap();
        std::fs::write(top.join(FILE), "enabled: false\n").unwrap();
        let trust = Trust::of(&Home::under(place.path()));
        let look = |config: &Config, folder: &Path| {
            let policy = Project::look(config, &trust, folder.to_str().unwrap()).policy;
            (policy.enabled, policy.packs.contains(&"rust".to_owned()))
        };
        let found = Config::default();
        let named = Config::load(Some(("config.yml", "judgment: letter\n"))).unwrap();
        for (config, folder, expected) in [
            (&found, &top, (false, true)),
            (&found, &deep, (false, true)),
            (&found, &vendored, (true, false)),
            (&named, &top, (false, true)),
            (&named, &deep, (true, false)),
        ] {
            assert_eq!(look(config, folder), expected, "{}", folder.display());
        }
    }

    /// Another user may put a file into a shared folder above the project.
    #[test]
    fn a_file_that_others_can_write_or_replace_makes_no_project_and_does_not_count() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = tempfile::tempdir().unwrap();
        let shared = place.path().join("shared");
        let own = shared.join("own");
        std::fs::create_dir_all(&own).unwrap();
        let file = shared.join(FILE);
        std::fs::write(&file, "enabled: false\n").unwrap();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let trust = Trust::of(&Home::under(place.path()));
        let config = Config::default();
        for (folder_mode, file_mode, counts) in [
            (0o755, 0o644, true),
            (0o775, 0o664, true),
            (0o1777, 0o644, false),
            (0o757, 0o644, false),
            (0o755, 0o646, false),
        ] {
            mode(&shared, folder_mode);
            mode(&file, file_mode);
            let row = format!("{folder_mode:o} {file_mode:o}");
            let expected = if counts { &shared } else { &own };
            assert_eq!(&root(&config, &own), expected, "{row}");
            let at = Project::look(&config, &trust, shared.to_str().unwrap());
            assert_eq!(at.policy.enabled, !counts, "{row}");
            assert_eq!(at.problem.is_none(), counts, "{row}: {:?}", at.problem);
        }
    }
}
