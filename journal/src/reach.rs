//! Who can change a file or a folder besides its user. Standard library only, because the hook client uses it.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

const GROUP_AND_OTHERS_WRITE: u32 = 0o022;
const OTHERS_WRITE: u32 = 0o002;
/// The permission bit of a folder in which only owners can replace files.
pub(crate) const STICKY: u32 = 0o1000;
/// Group of the administrators of macOS. Homebrew's folders are writable by them, and they can become root anyway.
const MACOS_ADMINISTRATORS: u32 = 80;

/// Why another user can change a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It belongs to the user with this id, who is neither the expected one nor root.
    Owner(u32),
    /// Its group, or everyone, can write to it. Holds the permission bits.
    Writable(u32),
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(user) => write!(f, "belongs to another user (uid {user})"),
            Self::Writable(mode) if mode & OTHERS_WRITE != 0 => {
                write!(f, "is writable by everyone (mode {mode:04o})")
            }
            Self::Writable(mode) => write!(f, "is writable by its group (mode {mode:04o})"),
        }
    }
}

/// Returns why a user other than `user` and root can change what `meta` describes; `None` if none can.
pub fn reach(meta: &Metadata, user: u32) -> Option<Reach> {
    let mode = meta.mode() & 0o7777;
    if meta.uid() != user && meta.uid() != 0 {
        Some(Reach::Owner(meta.uid()))
    } else if mode & GROUP_AND_OTHERS_WRITE != 0 {
        Some(Reach::Writable(mode))
    } else {
        None
    }
}

/// In a user namespace without root, such as that of a systemd user service with `PrivateUsers`, files of root belong to
/// this user, and so do those of all other users.
const OVERFLOW_USER: u32 = 65534;

/// Returns the user that root's files belong to.
fn root() -> u32 {
    static ROOT: OnceLock<u32> = OnceLock::new();
    *ROOT.get_or_init(|| {
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let lines = map.lines();
        let mut first_ids = lines.filter_map(|line| line.split_whitespace().next());
        if map.is_empty() || first_ids.any(|id| id == "0") {
            0
        } else {
            OVERFLOW_USER
        }
    })
}

/// Returns who owns what `meta` describes, if that is neither `user` nor root.
pub(crate) fn owner_but_root(meta: &Metadata, user: u32) -> Option<u32> {
    let owner = meta.uid();
    (owner != user && owner != 0 && owner != root()).then_some(owner)
}

/// Returns whether only `user` and root can replace what `path` names: links are resolved, and the file or folder and
/// every folder above it are checked. In a folder like `/tmp` (sticky), only owners can replace files.
///
/// # Errors
///
/// If the path does not exist or cannot be examined.
pub fn is_out_of_reach(path: &Path, user: u32) -> io::Result<bool> {
    let real = path.canonicalize()?;
    for (above, part) in real.ancestors().enumerate() {
        let meta = part.metadata()?;
        let is_owned = owner_but_root(&meta, user).is_none();
        let is_closed = meta.mode() & GROUP_AND_OTHERS_WRITE == 0;
        let is_sticky_above = above > 0 && meta.is_dir() && meta.mode() & STICKY != 0;
        let is_safe = is_owned && (is_closed || is_sticky_above || is_administrators(&meta));
        if !is_safe {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_administrators(meta: &Metadata) -> bool {
    cfg!(target_os = "macos")
        && meta.gid() == MACOS_ADMINISTRATORS
        && meta.mode() & OTHERS_WRITE == 0
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Every folder of the table is below a folder with mode 0700; `above` is the mode of the folder between them.
    #[test]
    fn others_can_change_what_they_can_write_or_replace() {
        let root = tempfile::tempdir().expect("a folder");
        let user = root.path().metadata().expect("there").uid();
        let table = [
            (0o755, 0o644, true),
            (0o700, 0o600, true),
            (0o755, 0o664, false),
            (0o755, 0o646, false),
            (0o775, 0o644, false),
            (0o757, 0o644, false),
            // Like /tmp: others can add files but not replace this one.
            (0o1777, 0o644, true),
            (0o1777, 0o666, false),
        ];
        for (row, (above, mode, expected)) in table.into_iter().enumerate() {
            let folder = root.path().join(row.to_string());
            let file = folder.join("file");
            fs::create_dir(&folder).expect("created");
            fs::write(&file, "").expect("written");
            fs::set_permissions(&file, Permissions::from_mode(mode)).expect("set");
            fs::set_permissions(&folder, Permissions::from_mode(above)).expect("set");
            let is_safe = is_out_of_reach(&file, user).expect("there");
            assert_eq!(is_safe, expected, "{above:o} {mode:o}");
            let link = root.path().join(format!("link {row}"));
            std::os::unix::fs::symlink(&file, &link).expect("a link");
            assert_eq!(is_out_of_reach(&link, user).expect("there"), expected);
        }
    }

    #[test]
    fn a_file_of_another_user_is_in_that_ones_reach() {
        let root = tempfile::tempdir().expect("a folder");
        let meta = root.path().metadata().expect("there");
        let other = meta.uid() + 1;
        if meta.uid() == 0 {
            assert_eq!(reach(&meta, other), None, "root can change everything");
        } else {
            assert_eq!(reach(&meta, other), Some(Reach::Owner(meta.uid())));
        }
    }
}
