//! A place for the programs that hooks can name when these run from a package manager's cache: `npx` and `uvx` delete
//! theirs at any time.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use journal::Home;
use journal::home::create_folder;

/// The programs of an installation; the last is not part of each.
const PROGRAMS: [&str; 3] = ["checkpointd", "checkpointd-hook", "checkpointd-fleet"];
/// Names of folders that only caches have: those of `npx`, `uvx`, `pnpm`, and of macOS.
const CACHES: [&str; 5] = ["_npx", "archive-v0", ".pnpm", ".cache", "Caches"];

/// Returns the folder that copies of the programs are in.
pub(crate) fn folder(home: &Home) -> PathBuf {
    home.installed.join("bin")
}

/// Returns the folder whose copies hooks name, if this program may be gone tomorrow.
pub(crate) fn copies(home: &Home) -> Option<PathBuf> {
    let (own, folder) = (std::env::current_exe().ok()?, folder(home));
    (is_passing(&own) && own.parent() != Some(&folder)).then_some(folder)
}

/// Returns whether a package manager may delete or move a program at its own time.
fn is_passing(program: &Path) -> bool {
    let begins = |name: &OsStr| name.to_string_lossy().starts_with("bunx-");
    let is_cache = |name: &OsStr| CACHES.iter().any(|cache| name == *cache) || begins(name);
    program.iter().any(is_cache)
}

/// Copies the programs beside this one to that folder, if there is need.
pub(crate) fn settle(home: &Home) -> Result<(), String> {
    let (Some(to), Ok(own)) = (copies(home), std::env::current_exe()) else {
        return Ok(());
    };
    let copy = |name: &str| {
        let (from, new) = (own.with_file_name(name), to.join(format!("{name}.new")));
        if !from.is_file() {
            return Ok(());
        }
        // A copy that runs is replaced, not overwritten.
        fs::copy(&from, &new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o755))?;
        fs::rename(&new, to.join(name))
    };
    create_folder(&to)
        .and_then(|()| PROGRAMS.iter().try_for_each(|name| copy(name)))
        .map_err(|error| format!("the programs cannot be copied to {}: {error}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_in_caches_are_passing() {
        for cache in [
            "/home/u/.npm/_npx/1a2b/node_modules/@checkpointd/linux-x64/bin/checkpointd",
            "/home/u/.cache/uv/archive-v0/x/bin/checkpointd",
            "/uv/archive-v0/x/bin/checkpointd",
            "/home/u/Library/Caches/pnpm/dlx/x/checkpointd",
            "/tmp/bunx-0-checkpointd@latest/node_modules/checkpointd",
        ] {
            assert!(is_passing(Path::new(cache)), "{cache}");
        }
        for stays in [
            "/usr/lib/node_modules/checkpointd/node_modules/@checkpointd/linux-x64/bin/checkpointd",
            "/home/u/.local/share/pipx/venvs/checkpointd/bin/checkpointd",
            "/home/u/.cargo/bin/checkpointd",
        ] {
            assert!(!is_passing(Path::new(stays)), "{stays}");
        }
    }
}
