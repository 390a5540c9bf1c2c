//! `service`: installs the daemon as a service of the user's service manager and controls it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use journal::Home;
use journal::home::create_folder;
use serde_json::json;

use crate::cli::shared::Output;
use crate::cli::{connection, daemon_process};
use crate::error::{Failure, Result, exit};
use crate::service::manager::{Manager, quiet};
use crate::service::{Unit, launchd, systemd};

/// Start the daemon with your session: systemd user units with socket activation, or a launchd
/// agent
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd daemon service install\n  checkpointd daemon service install --print\n  checkpointd daemon service logs -f"
)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    pub(crate) action: ServiceAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Write the service's files and start it
    Install {
        /// Only print the files
        #[arg(long)]
        print: bool,
    },
    /// Stop it and remove its files
    Uninstall,
    /// Start it
    Start,
    /// Stop it
    Stop,
    /// Stop and start it
    Restart,
    /// Show whether it is installed and active: exit 0 if active, 3 if not
    Status {
        #[command(flatten)]
        output: Output,
    },
    /// Show the daemon's log
    Logs {
        /// Keep printing new lines
        #[arg(short, long)]
        follow: bool,
        /// Number of lines to start with
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: u64,
    },
}

/// The longest wait until a started service accepts hooks.
const START_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(home: &Home, args: ServiceArgs) -> Result<u8> {
    let action = args.action;
    match action {
        ServiceAction::Install { print: true } => print(home),
        ServiceAction::Install { print: false } => install(home),
        ServiceAction::Uninstall => uninstall(),
        ServiceAction::Start => started(home, &["start"]),
        ServiceAction::Stop => stop(),
        ServiceAction::Restart => restart(home),
        ServiceAction::Status { output } => status(home, output),
        ServiceAction::Logs { follow, lines } => logs(home, follow, lines),
    }
}

/// Restarts the service, and waits until it accepts hooks.
pub(super) fn restart(home: &Home) -> Result<u8> {
    started(home, &["restart"])
}

fn print(home: &Home) -> Result<u8> {
    for (index, unit) in Manager::of_platform().units(home)?.iter().enumerate() {
        print!(
            "{}# {}\n{}",
            if index > 0 { "\n" } else { "" },
            unit.path.display(),
            unit.text
        );
    }
    Ok(exit::OK)
}

fn install(home: &Home) -> Result<u8> {
    let manager = Manager::running()?;
    for unit in manager.units(home)? {
        let word = write(&unit)?;
        println!("{word:10} {}", unit.path.display());
    }
    // A daemon started by a hook would hold the journal against the service's own.
    if connection::health(home).is_some() && !manager.is_active() {
        daemon_process::stop(home)?;
    }
    match manager {
        Manager::Systemd => {
            call("systemctl", &["--user", "daemon-reload"])?;
            call(
                "systemctl",
                &[
                    "--user",
                    "enable",
                    "--now",
                    systemd::SOCKET,
                    systemd::SERVICE,
                ],
            )?;
            call("systemctl", &["--user", "restart", systemd::SERVICE])?;
        }
        Manager::Launchd => {
            let path = manager.folder()?.join(format!("{}.plist", launchd::LABEL));
            // launchd creates the socket and the log, but not their folders.
            [home.socket.parent(), Some(home.logs.as_path())]
                .into_iter()
                .flatten()
                .try_for_each(create_folder)?;
            // An older version may be loaded.
            quiet(&["launchctl", "bootout", &launchd::target()]);
            call(
                "launchctl",
                &["bootstrap", &launchd::domain(), &path.to_string_lossy()],
            )?;
        }
    }
    wait_until_up(home)?;
    println!(
        "{:10} the daemon runs, and starts again with your session",
        "active"
    );
    Ok(exit::OK)
}

fn write(unit: &Unit) -> Result<&'static str> {
    let before = fs::read_to_string(&unit.path).ok();
    if before.as_deref() == Some(unit.text.as_str()) {
        return Ok("unchanged");
    }
    let told = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", unit.path.display()))
    };
    let folder = unit.path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(told)?;
    let temporary = unit.path.with_extension("checkpointd-new");
    fs::write(&temporary, &unit.text)
        .and_then(|()| fs::rename(&temporary, &unit.path))
        .map_err(told)?;
    Ok(if before.is_some() { "updated" } else { "added" })
}

fn uninstall() -> Result<u8> {
    let removed = remove()?;
    if removed.is_empty() {
        println!("no service is installed");
    }
    removed
        .iter()
        .for_each(|path| println!("removed    {}", path.display()));
    Ok(exit::OK)
}

/// Stops the service if it is installed, and removes its files. Returns them.
pub(super) fn remove() -> Result<Vec<PathBuf>> {
    let manager = Manager::of_platform();
    if !manager.is_installed() {
        return Ok(Vec::new());
    }
    // Without a manager there is nothing to stop; the files are removed anyway.
    match manager {
        Manager::Systemd => quiet(&[
            "systemctl",
            "--user",
            "disable",
            "--now",
            systemd::SOCKET,
            systemd::SERVICE,
        ]),
        Manager::Launchd => quiet(&["launchctl", "bootout", &launchd::target()]),
    };
    let mut removed = Vec::new();
    for path in manager.files()? {
        match fs::remove_file(&path) {
            Ok(()) => removed.push(path),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::failed(format!(
                    "cannot remove {}: {error}",
                    path.display()
                )));
            }
        }
    }
    if manager == Manager::Systemd {
        quiet(&["systemctl", "--user", "daemon-reload"]);
    }
    Ok(removed)
}

fn installed() -> Result<Manager> {
    let manager = Manager::running()?;
    if manager.is_installed() {
        Ok(manager)
    } else {
        Err(Failure::failed("no service is installed")
            .hint("run `checkpointd daemon service install`"))
    }
}

fn started(home: &Home, verb: &[&str]) -> Result<u8> {
    match installed()? {
        Manager::Systemd => {
            call(
                "systemctl",
                &[&["--user"], verb, &[systemd::SOCKET, systemd::SERVICE]].concat(),
            )?;
        }
        Manager::Launchd => call("launchctl", &["kickstart", "-k", &launchd::target()])?,
    }
    wait_until_up(home)?;
    println!("active");
    Ok(exit::OK)
}

fn stop() -> Result<u8> {
    match installed()? {
        // The socket too, or the next hook call would start the service again.
        Manager::Systemd => call(
            "systemctl",
            &["--user", "stop", systemd::SOCKET, systemd::SERVICE],
        )?,
        Manager::Launchd => call("launchctl", &["kill", "SIGTERM", &launchd::target()])?,
    }
    println!(
        "stopped (the next hook call starts a daemon of its own, unless CHECKPOINTD_AUTOSTART=0)"
    );
    Ok(exit::OK)
}

/// Exits with 0 if the service is active, 3 if not.
fn status(home: &Home, output: Output) -> Result<u8> {
    let manager = Manager::of_platform();
    let installed = manager.is_installed();
    let active = manager.is_active();
    let health = connection::health(home);
    output.print(
        &json!({ "installed": installed, "active": active, "daemon": health }),
        |_| {
            println!(
                "service    {}",
                if !installed {
                    "not installed"
                } else if active {
                    "active"
                } else {
                    "not active"
                }
            );
            let pid = health.as_ref().map(|health| health.pid.to_string());
            println!(
                "daemon     {}",
                pid.map_or_else(|| "not running".into(), |pid| format!("running, pid {pid}"))
            );
            if !installed {
                println!(
                    "           `checkpointd daemon service install` starts it with your session"
                );
            }
        },
    );
    Ok(if active { exit::OK } else { exit::UNREACHABLE })
}

/// Shows the daemon's log: the service's, or the file of a daemon started by hooks.
fn logs(home: &Home, follow: bool, lines: u64) -> Result<u8> {
    let count = lines.to_string();
    let mut command = if Manager::Systemd.is_active() {
        let mut command = Command::new("journalctl");
        command.args([
            "--user",
            "--unit",
            systemd::SERVICE,
            "--output",
            "cat",
            "--lines",
            &count,
        ]);
        command
    } else {
        let file = home.logs.join("daemon.log");
        if !file.exists() {
            println!("no log yet: {}", file.display());
            return Ok(exit::OK);
        }
        let mut command = Command::new("tail");
        command.args(["-n", &count]).arg(file);
        command
    };
    if follow {
        command.arg("-f");
    }
    let status = command
        .status()
        .map_err(|error| Failure::failed(format!("cannot show the log: {error}")))?;
    Ok(exit::of(status.success()))
}

fn wait_until_up(home: &Home) -> Result<()> {
    let began = Instant::now();
    while connection::health(home).is_none() {
        if began.elapsed() > START_WAIT {
            return Err(Failure::unreachable(
                "the service was started, but its daemon does not accept hooks",
            )
            .hint("`checkpointd daemon service logs` says why"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn call(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let output =
        output.map_err(|error| Failure::failed(format!("cannot run {program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::failed(format!(
        "`{program} {}` failed: {}",
        arguments.join(" "),
        crate::render::printable(&said)
    )))
}
