//! A request to end. Some hosts stop waiting for a hook: they send its process a signal and kill it a moment later, Kimi
//! Code after 100 ms. The request ends every wait instead of the process, so that the call is still spooled.

use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// The signals that ask a process to end.
const SIGNALS: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Readable once a signal came. A signal between two waits thus ends the next one.
static ASKED: OnceLock<UnixStream> = OnceLock::new();

/// Takes the signals from now on.
pub(super) fn watch() {
    let Ok((asked, ask)) = UnixStream::pair() else {
        return;
    };
    let _ = ASKED.set(asked);
    for signal in SIGNALS {
        if let Ok(ask) = ask.try_clone() {
            let _ = pipe::register(signal, ask);
        }
    }
}

/// Returns whether the process was asked to end.
pub(super) fn is_asked() -> bool {
    pause(Duration::ZERO)
}

/// Waits for a time, or until the process is asked to end. Returns whether it was.
pub(super) fn pause(time: Duration) -> bool {
    let Some(asked) = ASKED.get() else {
        std::thread::sleep(time);
        return false;
    };
    let deadline = Instant::now() + time;
    loop {
        let mut waited = [PollFd::new(asked, PollFlags::IN)];
        match poll(&mut waited, Some(&left(deadline))) {
            Err(Errno::INTR) => {}
            ready => return ready.is_ok_and(|ready| ready > 0),
        }
    }
}

/// Waits until a descriptor is ready or closed. Returns false after the deadline, or once the process is asked to end.
pub(super) fn is_ready(descriptor: PollFd<'_>, deadline: Instant) -> bool {
    let mut waited = vec![descriptor];
    waited.extend(ASKED.get().map(|asked| PollFd::new(asked, PollFlags::IN)));
    loop {
        match poll(&mut waited, Some(&left(deadline))) {
            // What is ready is taken in any case.
            Ok(_) => return !waited[0].revents().is_empty(),
            Err(Errno::INTR) => {}
            // It cannot be polled, for example a device: the next read or write tells.
            Err(_) => return true,
        }
    }
}

fn left(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: i64::from(left.subsec_nanos()) as _,
    }
}
