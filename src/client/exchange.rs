//! One request and its reply over the daemon's Unix socket. Every wait has a limit.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use journal::reply::{self, Response};
use journal::socket::{check_owner, with_short_path};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::Uid;

use super::ending;

/// Pause between two attempts while the daemon's connection queue is full.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// Maximum size of a reply's body.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The daemon has accepted the call. The text is for the agent and may be empty.
    Taken(Vec<u8>),
    /// The daemon has counted the call as refused; sending it again is useless.
    Refused,
    /// No process listens.
    NoDaemon,
    /// The connection was closed before the reply was complete.
    Broken,
    /// Anything else: no reply in time, or not a reply of the daemon's.
    Useless(&'static str),
}

/// Sends a request and waits for the reply until the deadline.
pub(super) fn send(socket: &Path, request: &[u8], deadline: Instant) -> Answer {
    let connection = match connect(socket, deadline) {
        Ok(connection) => connection,
        Err(answer) => return answer,
    };
    let mut rest = request;
    while !rest.is_empty() {
        match rustix::io::write(&connection, rest) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if is_ready(&connection, PollFlags::OUT, deadline) => {}
            Err(Errno::AGAIN) => return Answer::Useless("the daemon does not read"),
            // It may have answered before it closed, for example that the request is too large.
            Err(Errno::PIPE | Errno::CONNRESET) => break,
            // The request is partly sent: the daemon waits for the rest and will not reply.
            Err(_) => return Answer::Useless("cannot send to the daemon"),
        }
    }
    receive(&connection, deadline)
}

fn receive(connection: &OwnedFd, deadline: Instant) -> Answer {
    let stream = Timed(connection, deadline);
    let read = Response::receive(stream).and_then(|response| {
        let (status, mut body) = (response.status(), Vec::new());
        response.take(BODY_BYTES_MAX + 1).read_to_end(&mut body)?;
        Ok((status, body))
    });
    match read.map_err(|error| error.kind()) {
        Ok((_, body)) if body.len() as u64 > BODY_BYTES_MAX => {
            Answer::Useless("the reply is too large")
        }
        Ok((200, body)) => reply::object(body).map_or_else(Answer::Useless, Answer::Taken),
        Ok((400, _)) => Answer::Refused,
        Ok(_) => Answer::Useless("the daemon could not accept it"),
        Err(ErrorKind::TimedOut) => Answer::Useless("no reply in time"),
        Err(ErrorKind::InvalidData) => Answer::Useless("not a reply of the daemon's"),
        Err(_) => Answer::Broken,
    }
}

/// A connection that is read until a deadline.
struct Timed<'a>(&'a OwnedFd, Instant);

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !is_ready(self.0, PollFlags::IN, self.1) {
                return Err(ErrorKind::TimedOut.into());
            }
            match rustix::io::read(self.0, &mut *buffer) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                read => return Ok(read?),
            }
        }
    }
}

/// Waits until a descriptor is ready or closed. Returns false after the deadline, or once the process is asked to end.
pub(super) fn is_ready(descriptor: impl AsFd, flags: PollFlags, deadline: Instant) -> bool {
    ending::is_ready(PollFd::new(&descriptor, flags), deadline)
}

fn connect(path: &Path, deadline: Instant) -> Result<OwnedFd, Answer> {
    let user = rustix::process::geteuid();
    let attempt = check_owner(path, user.as_raw()).and_then(|()| {
        with_short_path(path, |path| {
            Ok(connect_to(&SocketAddrUnix::new(path)?, deadline)?)
        })
    });
    let attempt = attempt.and_then(|connection| match listens_as(&connection, user)? {
        true => Ok(connection),
        false => Err(ErrorKind::PermissionDenied.into()),
    });
    attempt.map_err(|error| match Errno::from_io_error(&error) {
        _ if error.kind() == ErrorKind::PermissionDenied => {
            Answer::Useless("the socket belongs to another user, or others can replace it")
        }
        Some(Errno::NOENT | Errno::CONNREFUSED) => Answer::NoDaemon,
        Some(Errno::AGAIN) => Answer::Useless("the daemon does not accept connections"),
        Some(Errno::NAMETOOLONG) => Answer::Useless("the socket's path is too long"),
        _ => Answer::Useless("cannot connect"),
    })
}

/// Returns whether the process that listens belongs to a user. This also holds for a socket that was replaced after its
/// owner was looked at.
#[cfg(target_os = "linux")]
fn listens_as(connection: &OwnedFd, user: Uid) -> Result<bool, Errno> {
    Ok(rustix::net::sockopt::socket_peercred(connection)?.uid == user)
}

/// The owner of the socket's file is all that this system tells without `unsafe`.
#[cfg(not(target_os = "linux"))]
fn listens_as(_: &OwnedFd, _: Uid) -> Result<bool, Errno> {
    Ok(true)
}

fn connect_to(address: &SocketAddrUnix, deadline: Instant) -> Result<OwnedFd, Errno> {
    let connection = new_socket()?;
    loop {
        match rustix::net::connect(&connection, address) {
            Ok(()) => return Ok(connection),
            Err(Errno::INTR) => {}
            // A blocking socket would wait forever for a daemon that hangs.
            Err(Errno::AGAIN)
                if Instant::now() + BUSY_PAUSE < deadline && !ending::pause(BUSY_PAUSE) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(target_os = "linux")]
fn new_socket() -> Result<OwnedFd, Errno> {
    let flags = rustix::net::SocketFlags::NONBLOCK | rustix::net::SocketFlags::CLOEXEC;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

#[cfg(not(target_os = "linux"))]
fn new_socket() -> Result<OwnedFd, Errno> {
    let connection = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&connection, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&connection, true)?;
    Ok(connection)
}
