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
        let asked = match manager {
            Self::Systemd => quiet(&["systemctl", "--user", "show-environment"]),
            Self::Launchd => quiet(&["launchctl", "print", &launchd::domain()]),
        };
        if asked {
            return Ok(manager);
        }
        let name = if manager == Self::Systemd {
            "systemd user manager"
        } else {
            "launchd"
        };
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
            Self::Systemd => [systemd::SOCKET, systemd::SERVICE]
                .map(|name| folder.join(name))
                .into(),
            Self::Launchd => vec![folder.join(format!("{}.plist", launchd::LABEL))],
        })
    }

    /// Returns whether the service's files exist, or those of a package are enabled.
    pub(crate) fn is_installed(self) -> bool {
        self.files()
            .is_ok_and(|files| files.iter().all(|file| file.exists()))
            || self == Self::Systemd
                && quiet(&[
                    "systemctl",
                    "--user",
                    "is-enabled",
                    "--quiet",
                    systemd::SOCKET,
                ])
    }

    /// Returns whether a process is the service's daemon. Another home may have a daemon of its own.
    pub(crate) fn runs(self, pid: u32) -> bool {
        let (program, arguments, line) = match self {
            Self::Systemd => (
                "systemctl",
                format!(
                    "--user show --property=MainPID --value {}",
                    systemd::SERVICE
                ),
                pid.to_string(),
            ),
            Self::Launchd => (
                "launchctl",
                format!("print {}", launchd::target()),
                format!("pid = {pid}"),
            ),
        };
        let output = Command::new(program)
            .args(arguments.split(' '))
            .stdin(Stdio::null())
            .output();
        output.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().any(|said| said.trim() == line)
        })
    }

    /// Returns whether the service runs.
    pub(crate) fn is_active(self) -> bool {
        match self {
            Self::Systemd => quiet(&[
                "systemctl",
                "--user",
                "is-active",
                "--quiet",
                systemd::SERVICE,
            ]),
            Self::Launchd => quiet(&["launchctl", "print", &launchd::target()]),
        }
    }
}

/// Runs a command without output, and returns whether it succeeded.
pub(crate) fn quiet(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
