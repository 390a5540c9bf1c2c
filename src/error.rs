//! Errors for people: a kind that sets the exit code, the chain of causes, and a hint.

use std::fmt;
use std::io::ErrorKind;

use checkpoint::text::visible;

/// Exit codes, part of the machine interface.
pub(crate) mod exit {
    pub(crate) const OK: u8 = 0;
    /// A check failed, or the request could not be met.
    pub(crate) const FAILED: u8 = 1;
    /// The command line, or a file that it names, is invalid.
    pub(crate) const USAGE: u8 = 2;
    /// The daemon or the journal is unreachable.
    pub(crate) const UNREACHABLE: u8 = 3;

    /// Returns the code of a check that passed, or did not.
    pub(crate) const fn of(is_good: bool) -> u8 {
        if is_good { OK } else { FAILED }
    }
}

/// An error with an exit code and an optional hint.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
    hint: Option<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    fn new(code: u8, error: impl fmt::Display) -> Self {
        Self {
            code,
            error: anyhow::anyhow!("{error}"),
            hint: None,
        }
    }

    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self::new(exit::FAILED, error)
    }

    pub(crate) fn usage(error: impl fmt::Display) -> Self {
        Self::new(exit::USAGE, error)
    }

    pub(crate) fn unreachable(error: impl fmt::Display) -> Self {
        Self::new(exit::UNREACHABLE, error)
    }

    /// A command needs a feature that this program was built without.
    #[cfg(any(test, not(all(feature = "sqlite", feature = "top"))))]
    pub(crate) fn not_built(what: &str, feature: &str) -> Self {
        Self::failed(not_built(what, feature))
    }

    /// Adds a hint about what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the message without its hint.
    pub(crate) fn text(&self) -> String {
        format!("{:#}", self.error)
    }

    /// Returns the hint.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns whether the only error is a closed pipe (`| head`).
    pub(crate) fn is_closed_pipe(&self) -> bool {
        let io = self.error.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub(crate) const fn code(&self) -> u8 {
        self.code
    }
}

/// Says how to get what this program was built without.
#[cfg(any(test, not(all(feature = "sqlite", feature = "top"))))]
pub(crate) fn not_built(what: &str, feature: &str) -> String {
    format!(
        "{what} is not in this build: install a package, run ./install.sh, or build with `--features {feature}`"
    )
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            code: exit::FAILED,
            error,
            hint: None,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let hint = full_hint(error.kind());
        Self {
            hint: hint.map(str::to_owned),
            ..Self::from(anyhow::Error::from(error))
        }
    }
}

const DAMAGED: &str =
    "`checkpointd journal verify` says what is damaged; the files were left as they are";

/// Says what to do about a full disk.
fn full_hint(kind: ErrorKind) -> Option<&'static str> {
    let is_full = matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    is_full.then_some("free some disk space and try again")
}

impl From<journal::Error> for Failure {
    fn from(error: journal::Error) -> Self {
        use journal::Error;
        let hint = match &error {
            Error::Locked { .. } => Some(
                "another checkpointd uses it: wait for it, or stop it with `checkpointd daemon stop`",
            ),
            Error::Newer { .. } => Some("install the newer checkpointd again; nothing was changed"),
            Error::Disk {
                kind: ErrorKind::PermissionDenied,
                ..
            } => Some("you must own the folder; CHECKPOINTD_HOME can name another one"),
            Error::Disk { kind, .. } => full_hint(*kind),
            Error::Store { kind, .. } => full_hint(*kind).or(Some(DAMAGED)),
            Error::Damaged { .. } => Some(DAMAGED),
            _ => None,
        };
        Self {
            hint: hint.map(str::to_owned),
            ..Self::unreachable(format!("the journal cannot be used: {error}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("error: {:#}", self.error);
        if let Some(hint) = &self.hint {
            text.push_str("\nhint: ");
            text.push_str(hint);
        }
        // It may name what others wrote.
        f.write_str(&visible(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn what_is_not_built_in_says_how_to_get_it() {
        let failure = Failure::not_built("`checkpointd journal sql`", "sqlite");
        insta::assert_snapshot!(failure, @"error: `checkpointd journal sql` is not in this build: install a package, run ./install.sh, or build with `--features sqlite`");
    }
}
