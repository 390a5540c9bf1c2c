//! Unix sockets whose path does not fit into a socket address. Standard library only, for the hook client.

use std::env::{current_dir, set_current_dir};
use std::io;
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

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
