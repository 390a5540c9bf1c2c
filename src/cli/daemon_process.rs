//! Starts the daemon in the background, and stops it.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journal::{Home, named_file};

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

/// Starts the daemon in the background if none runs.
pub(crate) fn ensure(home: &Home) -> Result<()> {
    if connection::health(home).is_none() {
        start_in_background(home)?;
    }
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
    let mut command = Command::new(std::env::current_exe()?);
    command.current_dir("/");
    let (_, health) = start(home, command, &["daemon", "--background"])?;
    Ok(health)
}

/// Starts a daemon by this command, and waits until it accepts hooks. An error says how its log ends.
pub(crate) fn start(
    home: &Home,
    mut command: Command,
    arguments: &[&str],
) -> Result<(Child, Health)> {
    private_folder(&home.logs)?;
    let log = log_file::open(&home.logs)?;
    let before = usize::try_from(log.metadata()?.len()).unwrap_or_default();
    let mut child = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()?;
    let began = Instant::now();
    let what = loop {
        if let Some(health) = connection::health(home) {
            return Ok((child, health));
        }
        if let Some(status) = child.try_wait()? {
            break format!("the daemon did not start ({status})");
        }
        if began.elapsed() > DETACH_WAIT {
            break format!(
                "the daemon does not answer after {} s",
                DETACH_WAIT.as_secs()
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let path = log_file::path(&home.logs);
    let log = std::fs::read(&path).unwrap_or_default();
    let log = String::from_utf8_lossy(log.get(before..).unwrap_or_default());
    let last = log.lines().rfind(|line| !line.starts_with("hint: "));
    let is_full = || super::doctor::free_bytes(home).is_ok_and(|free| free == 0);
    let last = match last {
        Some(line) => format!(": {line}"),
        None if is_full() => ", and the disk is full".to_owned(),
        None => String::new(),
    };
    Err(Failure::unreachable(what).hint(format!("its log is {}{last}", path.display())))
}

/// Leaves the terminal's session, so that closing the terminal does not end the daemon.
pub(crate) fn leave_terminal() {
    // Fails only for a process group leader, which is detached already.
    let _ = rustix::process::setsid();
}

/// Replaces the daemon by one of this version, or starts one. Hook calls that come meanwhile go to the spool, which the new
/// daemon imports before it accepts others.
pub(crate) fn restart(home: &Home) -> Result<()> {
    let before = connection::health(home);
    if before.is_some() {
        end(home)?;
    }
    let now = match start_in_background(home) {
        // A hook call was faster; it starts the same program.
        Err(_) if before.is_some() => connection::health(home)
            .ok_or_else(|| Failure::unreachable("the daemon did not start again"))?,
        started => started?,
    };
    let was = before.map_or_else(String::new, |was| {
        format!(", before: {} (pid {})", was.version, was.pid)
    });
    println!("checkpointd {} runs (pid {}){was}", now.version, now.pid);
    Ok(())
}

/// Stops the daemon and prints a message.
pub(crate) fn stop(home: &Home) -> Result<()> {
    end(home)?;
    println!("stopped");
    Ok(())
}

/// Stops the daemon and waits until it has ended.
pub(crate) fn end(home: &Home) -> Result<()> {
    let began = Instant::now();
    let has_ended = || {
        let file = named_file::open_own(&home.run.join("pid"), File::options().read(true));
        match file {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    };
    // One that is coming up holds its lock before it listens.
    while connection::health(home).is_none() {
        if has_ended() {
            return Err(Failure::unreachable("no daemon is running"));
        }
        if began.elapsed() > DETACH_WAIT {
            return Err(
                Failure::failed("the daemon is starting and does not answer yet")
                    .hint("try again, or `kill` its pid; no acknowledged event is lost"),
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    connection::post(home, "/v1/shutdown", b"")?;
    while began.elapsed() < DETACH_WAIT {
        if has_ended() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::failed("the daemon does not stop")
        .hint("`kill` its pid; no acknowledged event is lost"))
}
