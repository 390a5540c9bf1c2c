//! One daemon per home: its folders, its lock, its socket.

use std::fs::{self, File, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use journal::Home;
use journal::named_file;
use journal::socket::with_short_path;

use super::http::health;
use crate::error::{Failure, Result};

/// The longest wait for a lock whose owner gives no sign of life. A killed daemon keeps its lock until the last of its
/// threads has ended, and that of a process that it was starting until that process executes its own program.
const PID_WAIT: Duration = Duration::from_secs(10);
/// Pause between two tries to take the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

pub(crate) fn private_folder(folder: &Path) -> Result<()> {
    let made = journal::home::create_folder(folder);
    made.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)))
        .map_err(|error| {
            Failure::unreachable(format!(
                "cannot use the folder {}: {error}",
                folder.display()
            ))
            .hint("you must own it; CHECKPOINTD_HOME can name another folder")
        })
}

/// Takes the lock of this home's daemon and writes the pid file.
pub(super) fn lock(home: &Home) -> Result<File> {
    let path = home.run.join("pid");
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = named_file::open_own(&path, &mut options)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(fs::TryLockError::WouldBlock) => {
                let is_alive = health::answers(&home.socket);
                if is_alive || began.elapsed() > PID_WAIT {
                    let pid = named_file::own_text(&path).unwrap_or_default();
                    return Err(is_held(pid.trim(), is_alive));
                }
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())?;
    Ok(file)
}

fn is_held(pid: &str, is_alive: bool) -> Failure {
    if is_alive {
        return Failure::failed(format!("a daemon is already running (pid {pid})")).hint(
            "`checkpointd daemon status` shows its status, `checkpointd daemon stop` stops it",
        );
    }
    Failure::failed(format!(
        "a daemon holds the lock and does not answer (pid {pid})"
    ))
    .hint(format!("end it with `kill -9 {pid}`, and try again"))
}

/// The socket and its origin.
pub(super) struct Socket {
    pub(super) listener: tokio::net::UnixListener,
    /// A service manager created it and keeps it when the daemon ends.
    pub(super) is_handed_over: bool,
}

/// Takes a service manager's socket, or binds one that only its owner can access. The pid lock is
/// held, so an existing socket is stale.
pub(super) fn listen(home: &Home) -> Result<Socket> {
    if let Some(listener) = handed_over()? {
        listener.set_nonblocking(true)?;
        return Ok(Socket {
            listener: tokio::net::UnixListener::from_std(listener)?,
            is_handed_over: true,
        });
    }
    let folder = home.socket.parent().unwrap_or(Path::new("/"));
    private_folder_if_missing(folder)?;
    if home.socket.file_name().is_none() {
        return Err(Failure::usage("the socket's path has no file name"));
    }
    let _ = fs::remove_file(&home.socket);
    let listener =
        with_short_path(&home.socket, |path| UnixListener::bind(path)).map_err(|error| {
            Failure::unreachable(format!(
                "cannot listen on {}: {error}",
                home.socket.display()
            ))
            .hint("CHECKPOINTD_SOCKET can name another folder")
        })?;
    fs::set_permissions(&home.socket, Permissions::from_mode(0o600))?;
    // The folder in which the daemon was started may be removed or unmounted.
    std::env::set_current_dir("/")?;
    listener.set_nonblocking(true)?;
    Ok(Socket {
        listener: tokio::net::UnixListener::from_std(listener)?,
        is_handed_over: false,
    })
}

/// Returns a service manager's socket: launchd is asked for it, systemd passes it on
/// (`LISTEN_FDS`).
fn handed_over() -> std::io::Result<Option<UnixListener>> {
    #[cfg(target_os = "macos")]
    if let Some(listener) = crate::service::launchd::socket() {
        return Ok(Some(listener));
    }
    listenfd::ListenFd::from_env().take_unix_listener(0)
}

pub(super) fn private_folder_if_missing(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        Ok(())
    } else {
        private_folder(folder)
    }
}
