//! Where programs are found (spec ENV-1).
//!
//! The search path of the process that starts the daemon is not used: it may hold folders of a project, such as
//! `node_modules/.bin`, and the daemon runs for all projects.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use checkpoint::config::UserPath;
use journal::reach::is_out_of_reach;
use parking_lot::RwLock;
use rustix::fs::{Access, access};

/// Folders of programs on the systems that checkpointd runs on.
const SYSTEM: [&str; 11] = [
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
];
/// Folders of programs in a user's home folder.
const IN_HOME: [&str; 4] = [".local/bin", "bin", ".cargo/bin", ".nix-profile/bin"];

/// The folders that are searched for programs; set at the first use.
static PLACES: RwLock<Option<Places>> = RwLock::new(None);

#[derive(Clone, Default)]
struct Places {
    /// Safe folders with their links resolved, without repetitions.
    folders: Vec<PathBuf>,
    passed_over: Vec<PathBuf>,
}

/// Searches these folders for programs before all others, and checks which folders are safe now.
pub fn look_in(folders: &[UserPath]) {
    let home = home();
    let text = home.as_deref().and_then(Path::to_str);
    let named = folders.iter().filter_map(|folder| folder.resolve(text));
    let named: Vec<_> = named.map(PathBuf::from).collect();
    let is_bad = |folder: &&PathBuf| safe_folder(folder).is_none();
    let passed_over = named.iter().filter(is_bad).cloned().collect();
    let in_home = home
        .iter()
        .flat_map(|home| IN_HOME.map(|name| home.join(name)));
    let candidates = named
        .into_iter()
        .chain(SYSTEM.map(PathBuf::from))
        .chain(in_home);
    let mut folders = Vec::new();
    for folder in candidates.filter_map(|folder| safe_folder(&folder)) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    *PLACES.write() = Some(Places {
        folders,
        passed_over,
    });
}

fn places() -> Places {
    let read = || PLACES.read().clone();
    read().unwrap_or_else(|| {
        look_in(&[]);
        read().unwrap_or_default()
    })
}

/// Returns the folders of the setting `daemon.path` that are not used, because other users can put programs there or
/// because they do not exist.
pub fn passed_over() -> Vec<PathBuf> {
    places().passed_over
}

/// Returns the path of a program, or `None` if no folder that only the user and root can write to holds it.
pub fn find(name: &str) -> Option<PathBuf> {
    places()
        .folders
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

/// Returns the folders as a value of `PATH`, for programs that look for others.
pub(crate) fn search_path() -> OsString {
    std::env::join_paths(places().folders).unwrap_or_default()
}

fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    home.is_absolute().then_some(home)
}

/// Returns a folder with its links resolved, if only the user and root can change what is in it.
fn safe_folder(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    let is_separable = !real.as_os_str().as_encoded_bytes().contains(&b':');
    (folder.is_absolute() && real.is_dir() && is_separable && is_safe(&real)).then_some(real)
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok() && is_safe(path)
}

fn is_safe(path: &Path) -> bool {
    is_out_of_reach(path, rustix::process::geteuid().as_raw()).unwrap_or(false)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_or_program_that_others_can_write_to_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("bin");
        let program = folder.join("tool");
        fs::create_dir(&folder).unwrap();
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let looks = |folder_mode: u32, mode: u32| {
            fs::set_permissions(&folder, Permissions::from_mode(folder_mode)).unwrap();
            fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
            (safe_folder(&folder).is_some(), is_program(&program))
        };
        assert_eq!(looks(0o755, 0o755), (true, true));
        assert_eq!(looks(0o755, 0o644), (true, false));
        assert_eq!(looks(0o755, 0o775), (true, false));
        assert_eq!(looks(0o775, 0o755), (false, false));
        assert_eq!(looks(0o757, 0o755), (false, false));
        assert_eq!(looks(0o1777, 0o755), (false, true));
        assert_eq!(safe_folder(Path::new("bin")), None);
        assert_eq!(safe_folder(&root.path().join("none")), None);
    }

    #[test]
    fn the_shell_is_found_in_an_absolute_folder() {
        let shell = find("sh").unwrap();
        assert!(shell.is_absolute());
        assert_eq!(find("no such program"), None);
    }
}
