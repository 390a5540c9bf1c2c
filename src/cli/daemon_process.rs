//! Starts the daemon in the background, and stops it.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Home;

use super::connection;
use crate::daemon::instance::private_folder;
use crate::daemon::log_file;
use crate::error::{Failure, Result};
use crate::ops::views::Health;

/// How long `--detach` waits for the daemon to accept hooks.
const DETACH_WAIT: Duration = Duration::from_secs(10);

/// Starts the daemon in the background, and prints when it accepts hooks.
pub(crate) fn detach(home: &Home) -> Result<()> {
    let health = start_in_background(home)?;
    println!(
        "checkpointd {} runs (pid {})",
        env!("CARGO_PKG_VERSION"),
        health.pid
    );
    Ok(())
}

/// Starts the daemon in the background and waits until it accepts hooks.
pub(crate) fn start_in_background(home: &Home) -> Result<Health> {
    if let Some(health) = connection::health(home) {
        return Err(
            Failure::failed(format!("a daemon is already running (pid {})", health.pid)).hint(
                "`checkpointd daemon status` shows its status, `checkpointd daemon stop` stops it",
            ),
        );
    }
    private_folder(&home.logs)?;
    let path = log_file::path(&home.logs);
    let log = log_file::open(&home.logs)?;
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
                Failure::unreachable(format!("the daemon did not start ({status})"))
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
    // Fails only for a process group leader, which is detached already.
    let _ = rustix::process::setsid();
}

/// Stops the daemon and prints that.
pub(crate) fn stop(home: &Home) -> Result<()> {
    end(home)?;
    println!("stopped");
    Ok(())
}

/// Stops the daemon and waits until it has ended.
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
        .hint("`kill` its pid; no acknowledged event is lost"))
}
