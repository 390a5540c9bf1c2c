//! The platform's service manager: whether it runs, and which of our files it has.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use journal::Home;

use super::{Setup, Unit, launchd, systemd};
use crate::error::{Failure, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    Systemd,
    /// macOS's own.
    Launchd,
}

impl Manager {
    pub(crate) const fn of_platform() -> Self {
        if cfg!(target_os = "macos") {
            Self::Launchd
        } else {
            Self::Systemd
        }
    }

    /// Returns the service manager if it runs.
    pub(crate) fn running() -> Result<Self> {
        let manager = Self::of_platform();
        let (name, line) = match manager {
            Self::Systemd => (
                "systemd user manager",
                "systemctl --user show-environment".into(),
            ),
            Self::Launchd => ("launchd", format!("launchctl print {}", launchd::domain())),
        };
        if succeeds(&line) {
            return Ok(manager);
        }
        Err(Failure::unreachable(format!("no {name} answers here"))
            .hint("a service is optional: hooks start the daemon, and so does `checkpointd daemon --detach`"))
    }

    pub(crate) fn folder(self) -> Result<PathBuf> {
        let folder = if self == Self::Systemd {
            systemd::folder()
        } else {
            launchd::folder()
        };
        folder.ok_or_else(|| Failure::usage("HOME is not set").hint("set it to your home folder"))
    }

    pub(crate) fn units(self, home: &Home) -> Result<Vec<Unit>> {
        let mut setup = Setup::current(home)?;
        setup.user_namespaces = self == Self::Systemd && quiet(&systemd::namespace_trial());
        let folder = self.folder()?;
        Ok(if self == Self::Systemd {
            systemd::units(&setup, &folder)
        } else {
            launchd::units(&setup, &folder)
        })
    }

    /// Returns the paths of the service's files, existing or not.
    pub(crate) fn files(self) -> Result<Vec<PathBuf>> {
        let folder = self.folder()?;
        Ok(match self {
            Self::Systemd => vec![folder.join(systemd::SOCKET), folder.join(systemd::SERVICE)],
            Self::Launchd => vec![folder.join(format!("{}.plist", launchd::LABEL))],
        })
    }

    /// Returns whether the service's files exist, or those of a package are enabled.
    pub(crate) fn is_installed(self) -> bool {
        self.files()
            .is_ok_and(|files| files.iter().all(|file| file.exists()))
            || self == Self::Systemd
                && succeeds(&format!(
                    "systemctl --user is-enabled --quiet {}",
                    systemd::SOCKET
                ))
    }

    /// Returns whether a process is the service's daemon. Another home may have a daemon of its own.
    pub(crate) fn runs(self, pid: u32) -> bool {
        const MAIN_PID: &str = "systemctl --user show --property=MainPID --value";
        let (command, line) = match self {
            Self::Systemd => (format!("{MAIN_PID} {}", systemd::SERVICE), pid.to_string()),
            Self::Launchd => {
                let print = format!("launchctl print {}", launchd::target());
                (print, format!("pid = {pid}"))
            }
        };
        let words: Vec<&str> = command.split(' ').collect();
        let output = command_of(&words).output();
        output.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().any(|said| said.trim() == line)
        })
    }

    /// Returns whether the service runs.
    pub(crate) fn is_active(self) -> bool {
        succeeds(&match self {
            Self::Systemd => format!("systemctl --user is-active --quiet {}", systemd::SERVICE),
            Self::Launchd => format!("launchctl print {}", launchd::target()),
        })
    }
}

/// Runs a command without output, and returns whether it succeeded.
pub(crate) fn quiet(words: &[&str]) -> bool {
    let mut command = command_of(words);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Like [`quiet`], with words that have no blanks.
fn succeeds(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    quiet(&words)
}

fn command_of(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command
}
