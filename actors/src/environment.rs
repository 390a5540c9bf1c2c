//! Which variables the daemon keeps of its starter's environment, and what its children get (spec ENV-2).
//!
//! A hook can start the daemon from within any project, and the daemon then runs for all of them. What it inherits is
//! therefore an allow-list.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use checkpoint::config::VariableName;

use crate::programs;

/// Kept by the daemon and passed on to the user's own commands: who and where the user is, the language, the desktop.
const KEPT: [&str; 22] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "CHECKPOINTD_HOME",
    "CHECKPOINTD_SOCKET",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    // Text encoding of macOS.
    "__CF_USER_TEXT_ENCODING",
];
/// Like [`KEPT`], all variables with this beginning: `LC_ALL`, `LC_CTYPE` and the others.
const KEPT_LOCALE: &str = "LC_";
/// Kept by the daemon only: what a service manager tells it, and its own debugging.
const DAEMON_ONLY: [&str; 9] = [
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "XPC_SERVICE_NAME",
    "XPC_FLAGS",
    "CHECKPOINTD_LOG",
    "RUST_BACKTRACE",
    PURGE_DELAY,
];
/// How many milliseconds the allocator keeps what was freed before it returns it to the system. It only looks when it is
/// used, so with its default of a second a daemon at rest keeps what a burst of events took.
const PURGE_DELAY: &str = "MIMALLOC_PURGE_DELAY";
const PURGE_DELAY_MS: &str = "50";
/// What programs get that the daemon runs for itself, besides `PATH`.
const TOOLS: [&str; 3] = ["HOME", "TMPDIR", "XDG_CONFIG_HOME"];

/// Returns whether the daemon keeps a variable. `named` are those of the setting `listeners.env`.
pub fn is_kept(name: &OsStr, named: &[VariableName]) -> bool {
    is_passed_on(name, named) || DAEMON_ONLY.iter().any(|kept| name == *kept)
}

fn is_passed_on(name: &OsStr, named: &[VariableName]) -> bool {
    KEPT.iter().any(|kept| name == *kept)
        || name.as_encoded_bytes().starts_with(KEPT_LOCALE.as_bytes())
        || named.iter().any(|named| name == named.0.as_str())
}

/// Sets the environment of a command of the user.
pub(crate) fn for_user(command: &mut Command, named: &[VariableName]) {
    give(command, |name| is_passed_on(name, named));
}

/// Returns a command for a program that the daemon runs for itself, with a reduced environment. `None` if there is no
/// such program.
pub(crate) fn tool(name: &str) -> Option<Command> {
    let mut command = Command::new(programs::find(name)?);
    for_tool(&mut command);
    Some(command)
}

/// Gives a program that the daemon runs for itself its environment.
pub(crate) fn for_tool(command: &mut Command) {
    give(command, |name| TOOLS.iter().any(|kept| name == *kept));
}

/// Returns the value of a variable that [`for_tool`] gives, besides `PATH`.
pub(crate) fn of_tools(name: &str) -> Option<OsString> {
    std::env::var_os(TOOLS.iter().find(|kept| **kept == name)?)
}

fn give(command: &mut Command, is_given: impl Fn(&OsStr) -> bool) {
    let given = std::env::vars_os().filter(|(name, _)| is_given(name));
    command
        .env_clear()
        .envs(given)
        .env("PATH", programs::search_path());
}

/// Returns the variables that the daemon has to be started with, or `None` if this process has just those: the ones of its
/// own that the daemon keeps, and what is set for it.
pub fn reduced(named: &[VariableName]) -> Option<Vec<(OsString, OsString)>> {
    let (mut kept, others): (Vec<_>, Vec<_>) =
        std::env::vars_os().partition(|(name, _)| is_kept(name, named));
    let is_set = kept.iter().any(|(name, _)| name == PURGE_DELAY);
    if !is_set {
        kept.push((PURGE_DELAY.into(), PURGE_DELAY_MS.into()));
    }
    (!is_set || !others.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_search_paths_are_not_kept() {
        let named = [VariableName("NTFY_TOKEN".into())];
        let table = [
            ("HOME", true, true),
            ("LC_TIME", true, true),
            ("DBUS_SESSION_BUS_ADDRESS", true, true),
            ("NTFY_TOKEN", true, true),
            ("LISTEN_FDS", true, false),
            ("CHECKPOINTD_LOG", true, false),
            (PURGE_DELAY, true, false),
            ("PATH", false, false),
            ("LD_PRELOAD", false, false),
            ("GIT_DIR", false, false),
            ("SSH_AUTH_SOCK", false, false),
            ("GITHUB_TOKEN", false, false),
            ("CHECKPOINTD_LISTENER", false, false),
        ];
        for (name, kept, passed_on) in table {
            let name = OsStr::new(name);
            assert_eq!(
                (is_kept(name, &named), is_passed_on(name, &named)),
                (kept, passed_on),
                "{name:?}"
            );
        }
        assert!(!is_kept(OsStr::new("NTFY_TOKEN"), &[]));
    }
}
