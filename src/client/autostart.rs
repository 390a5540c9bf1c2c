//! Starts the daemon if none listens: once for all hooks that miss it at the same time, and with a
//! pause between failed tries.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use journal::home::{Home, create_folder};
use journal::named_file;
use rustix::fs::Mode;

use super::debug::debug;

/// Locked while the daemon is started. Each try writes to it, so its mtime is that of the last try.
const LOCK_FILE: &str = "autostart.lock";
/// The shortest time between two tries.
const BACK_OFF: Duration = Duration::from_secs(2);
/// The result of an attempt to start the daemon.
#[derive(Debug)]
pub(super) enum Start {
    /// Started. This process detaches the daemon and ends.
    Begun(Child),
    /// Another hook call is starting the daemon, or did a moment ago.
    Underway,
    /// Autostart is disabled or impossible.
    Impossible,
}

/// Starts the daemon in the background, unless another call does or the environment forbids it.
pub(super) fn start(home: &Home) -> Start {
    if std::env::var_os("CHECKPOINTD_AUTOSTART").is_some_and(|value| value == "0") {
        return Start::Impossible;
    }
    let Some(program) = program() else {
        debug(&"checkpointd is not in the folder of this program");
        return Start::Impossible;
    };
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let _ = create_folder(&home.run);
    let (path, mut options) = (home.run.join(LOCK_FILE), File::options());
    let lock = named_file::open_own(&path, options.append(true).create(true));
    let Ok(mut lock) = lock else {
        return Start::Impossible;
    };
    if lock.try_lock().is_err() || was_tried(&lock) {
        return Start::Underway;
    }
    // Without the stamp every call would try again, so none does.
    if lock.set_len(0).and_then(|()| lock.write_all(b".")).is_err() {
        return Start::Impossible;
    }
    match command(program).spawn() {
        Ok(child) => Start::Begun(child),
        Err(error) => {
            debug(&format_args!("daemon not started: {error}"));
            Start::Impossible
        }
    }
}

/// Returns whether the last try is recent. The clock may have been set in between.
fn was_tried(lock: &File) -> bool {
    let Ok(metadata) = lock.metadata() else {
        return false;
    };
    let Ok(modified) = metadata.modified() else {
        return false;
    };
    let now = SystemTime::now();
    let age = now.duration_since(modified);
    let age = age.unwrap_or_else(|ahead| ahead.duration());
    metadata.len() > 0 && age < BACK_OFF
}

/// Returns the command that starts the daemon, which keeps only a few variables of this environment (spec ENV-2).
fn command(program: PathBuf) -> Command {
    let mut command = Command::new(program);
    // The agent waits until its pipes are closed, so the daemon must not inherit them.
    command
        .args(["daemon", "--detach"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.process_group(0);
    command
}

/// Returns the daemon's program, which is installed with this client. It is not looked for on `PATH`, which may hold
/// folders of a project.
fn program() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name("checkpointd");
    beside.is_file().then_some(beside)
}
