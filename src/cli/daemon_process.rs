//! Starting the daemon in the background, and stopping it.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Home;

use super::connection;
use crate::daemon::instance::private_folder;
use crate::daemon::log_file;
use crate::error::{Failure, Result};
use crate::ops::views::Health;

/// How long `--detach` waits for the daemon to take hooks.
const DETACH_WAIT: Duration = Duration::from_secs(10);

/// Starts the daemon in the background, and says so once it takes hooks.
///
/// # Errors
///
/// As [`start_in_background`].
pub(crate) fn detach(home: &Home) -> Result<()> {
    let health = start_in_background(home)?;
    println!(
        "checkpointd {} runs (pid {})",
        env!("CARGO_PKG_VERSION"),
        health.pid
    );
    Ok(())
}

/// Starts the daemon in the background and waits until it takes hooks. Returns how it is.
///
/// # Errors
///
/// When it does not come up; the message names its log.
pub(crate) fn start_in_background(home: &Home) -> Result<Health> {
    if let Some(health) = connection::health(home) {
        return Err(
            Failure::failed(format!("a daemon is running already (pid {})", health.pid)).hint(
                "`checkpointd daemon status` asks it how it is, `checkpointd daemon stop` stops it",
            ),
        );
    }
    private_folder(&home.logs)?;
    let (path, log) = (log_file::path(&home.logs), log_file::open(&home.logs)?);
    let mut child = Command::new(std::env::current_exe()?)
        .args(["daemon", "--background"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()?;
    let began = Instant::now();
    while began.elapsed() < DETACH_WAIT {
        if let Some(health) = connection::health(home) {
            return Ok(health);
        }
        if let Some(status) = child.try_wait()? {
            return Err(
                Failure::unreachable(format!("the daemon did not come up ({status})"))
                    .hint(format!("its log is {}", path.display())),
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::unreachable(format!(
        "the daemon does not answer after {} s",
        DETACH_WAIT.as_secs()
    ))
    .hint(format!("its log is {}", path.display())))
}

/// Leaves the terminal's session, so that closing the terminal does not end the daemon.
pub(crate) fn leave_terminal() {
    // Fails only for a process that leads its group already, and that one is on its own anyway.
    let _ = rustix::process::setsid();
}

/// Stops the daemon and says so.
///
/// # Errors
///
/// As [`end`].
pub(crate) fn stop(home: &Home) -> Result<()> {
    end(home)?;
    println!("stopped");
    Ok(())
}

/// Stops the daemon and waits until it is gone.
///
/// # Errors
///
/// When none runs, or it does not stop.
pub(crate) fn end(home: &Home) -> Result<()> {
    if connection::health(home).is_none() {
        return Err(Failure::unreachable("no daemon is running"));
    }
    connection::post(home, "/v1/shutdown", b"")?;
    let began = Instant::now();
    while began.elapsed() < DETACH_WAIT {
        let free = File::open(home.run.join("pid")).is_ok_and(|file| file.try_lock().is_ok());
        if free {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::failed("the daemon does not stop")
        .hint("`kill` its pid; nothing that was acknowledged is lost"))
}
