//! Who answers at a tmux socket.
//!
//! The socket's path comes from a hook call. A client of tmux does what its server says, up to running programs, so a
//! program that only claims to be a server must not get one: a tool in an agent's sandbox can listen on a socket too.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// Between two attempts to connect to a server that is busy.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Returns why the socket is not one of a tmux server of this user; `None` if it is one, or if no process listens
/// there.
pub(super) fn objection(socket: &Path, within: Duration) -> Option<String> {
    let address = SocketAddrUnix::new(socket);
    match address.and_then(|address| listener(&address, Instant::now() + within)) {
        Ok(listener) => of_listener(&listener),
        // tmux itself reports that no process listens.
        Err(Errno::NOENT | Errno::CONNREFUSED) => None,
        Err(error) => Some(format!("cannot connect to it: {error}")),
    }
}

/// Connects without waiting longer than allowed for a listener that accepts nothing.
fn connect(address: &SocketAddrUnix, deadline: Instant) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    loop {
        match rustix::net::connect(&socket, address) {
            Ok(()) => return Ok(socket),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if Instant::now() + BUSY_PAUSE < deadline => {
                std::thread::sleep(BUSY_PAUSE)
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(target_os = "linux")]
use rustix::net::UCred as Listener;

#[cfg(target_os = "linux")]
fn listener(address: &SocketAddrUnix, deadline: Instant) -> Result<Listener, Errno> {
    rustix::net::sockopt::socket_peercred(connect(address, deadline)?)
}

#[cfg(target_os = "linux")]
fn of_listener(listener: &Listener) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid();
    if listener.uid != user {
        return Some("another user listens on it".into());
    }
    let pid = listener.pid.as_raw_nonzero();
    let Ok(program) = std::fs::read_link(format!("/proc/{pid}/exe")) else {
        // The program of a process with the rights of a group is hidden; some systems install tmux that way.
        let tmux = crate::programs::find("tmux").and_then(|path| path.metadata().ok());
        let is_hidden = tmux.is_some_and(|meta| meta.mode() & 0o6000 != 0);
        return (!is_hidden).then(|| "the program that listens on it is hidden".into());
    };
    // A server continues after its program was upgraded.
    let text = program.to_string_lossy();
    let program = Path::new(text.strip_suffix(" (deleted)").unwrap_or(&text));
    let is_tmux = program
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"tmux"));
    let is_safe = program.parent().is_some_and(|folder| {
        journal::reach::is_out_of_reach(folder, user.as_raw()).unwrap_or(false)
    });
    (!is_tmux || !is_safe).then(|| format!("{} listens on it", program.display()))
}

/// Other systems do not tell who listens without `unsafe`.
#[cfg(not(target_os = "linux"))]
struct Listener;

#[cfg(not(target_os = "linux"))]
fn listener(address: &SocketAddrUnix, deadline: Instant) -> Result<Listener, Errno> {
    connect(address, deadline).map(|_| Listener)
}

#[cfg(not(target_os = "linux"))]
fn of_listener(_: &Listener) -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const WITHIN: Duration = Duration::from_millis(200);

    #[test]
    fn a_program_that_only_claims_to_be_a_tmux_server_gets_no_client() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("default");
        assert_eq!(objection(&socket, WITHIN), None, "nobody listens");
        let listening = UnixListener::bind(&socket).unwrap();
        let words = objection(&socket, WITHIN).unwrap();
        assert!(words.ends_with("listens on it"), "{words}");
        drop(listening);
        assert_eq!(objection(&socket, WITHIN), None, "nobody listens any more");
    }

    #[test]
    fn a_tmux_server_gets_its_client() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("server");
        let tmux = |arguments: &[&str]| {
            let mut command = std::process::Command::new(crate::programs::find("tmux").unwrap());
            command
                .arg("-S")
                .arg(&socket)
                .args(["-f", "/dev/null"])
                .args(arguments);
            assert!(command.status().unwrap().success(), "{arguments:?}");
        };
        tmux(&["new-session", "-d", "sleep 60"]);
        assert_eq!(objection(&socket, WITHIN), None);
        tmux(&["kill-server"]);
    }
}
