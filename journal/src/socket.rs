//! Unix sockets: whose they are, and paths that do not fit into a socket address. Standard library only, for the hook
//! client.

use std::env::{current_dir, set_current_dir};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::reach::{Reach, STICKY, reach};

/// The longest path that a socket address takes on every system: `sun_path` has 104 bytes on macOS, 108 on Linux.
const ADDRESS_BYTES_MAX: usize = 103;

/// Connects to or binds a Unix socket through `open`, which gets a path that fits into a socket address: `socket`
/// itself or, where that is too long, its file name while its folder is the current one.
///
/// The current folder belongs to the whole process: call it before threads start that use relative paths.
///
/// # Errors
///
/// When the folder cannot be entered, and those of `open`.
pub fn with_short_path<T>(
    socket: &Path,
    open: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return open(socket);
    };
    if socket.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return open(socket);
    }
    let before = current_dir();
    set_current_dir(folder)?;
    let opened = open(Path::new(name));
    // A daemon that the caller starts must not find itself in another folder.
    if let Ok(before) = before {
        let _ = set_current_dir(before);
    }
    opened
}

/// Refuses a socket that is not this user's, or that another user can replace: hook calls hold prompts and output, and
/// agents act on the replies (spec ENV-4). In a folder like `/tmp` (sticky), only its owner can replace the socket.
///
/// # Errors
///
/// `PermissionDenied` if it is refused, `NotFound` if there is none.
pub fn check_owner(socket: &Path, user: u32) -> io::Result<()> {
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let owner = socket.metadata()?.uid();
    if owner != user {
        return refused(format!(
            "{} {}, so it is not used",
            socket.display(),
            Reach::Owner(owner)
        ));
    }
    let Some(folder) = socket.parent() else {
        return Ok(());
    };
    match reach(&folder.metadata()?, user) {
        None => Ok(()),
        Some(Reach::Writable(mode)) if mode & STICKY != 0 => Ok(()),
        Some(reach) => refused(format!(
            "{} {reach}, so no socket in it is used",
            folder.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_socket_of_another_user_or_in_an_open_folder_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let socket = root.path().join("sock");
        let user = root.path().metadata().expect("there").uid();
        let kind = |user| check_owner(&socket, user).map_err(|error| error.kind());
        assert_eq!(kind(user), Err(io::ErrorKind::NotFound));
        let _listener = UnixListener::bind(&socket).expect("bound");
        assert_eq!(kind(user + 1), Err(io::ErrorKind::PermissionDenied));
        for (mode, expected) in [
            (0o700, Ok(())),
            (0o755, Ok(())),
            (0o1777, Ok(())),
            (0o775, Err(io::ErrorKind::PermissionDenied)),
            (0o777, Err(io::ErrorKind::PermissionDenied)),
        ] {
            fs::set_permissions(root.path(), fs::Permissions::from_mode(mode)).expect("set");
            assert_eq!(kind(user), expected, "{mode:o}");
        }
    }

    #[test]
    fn a_socket_with_a_long_path_is_bound_and_reached_from_the_same_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("f".repeat(ADDRESS_BYTES_MAX));
        fs::create_dir(&folder).expect("created");
        let socket = folder.join("sock");
        let before = current_dir().expect("a folder");
        let listener = with_short_path(&socket, |path| UnixListener::bind(path)).expect("bound");
        with_short_path(&socket, |path| UnixStream::connect(path)).expect("connected");
        assert!(listener.accept().is_ok());
        assert_eq!(current_dir().expect("a folder"), before);
    }
}
