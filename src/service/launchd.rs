//! The launchd agent: its socket always exists; the daemon is started at login, by the first hook
//! call after it has ended, and after a failure.
//!
//! Of the systemd units' hardening, launchd has file and socket modes and resource limits. It has
//! no settings for new privileges, executable memory, set-user-id files or address families; on
//! macOS a program's signature gives these up, and a program built from source has none.

use std::path::{Path, PathBuf};

use super::{Setup, Unit, filled};

pub(crate) const LABEL: &str = "dev.checkpointd.daemon";

/// The socket's name in the property list.
const LISTENER: &str = "Listener";

pub(crate) fn folder() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join("Library/LaunchAgents"))
}

pub(crate) fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// The agent's target name in launchd.
pub(crate) fn target() -> String {
    format!("{}/{LABEL}", domain())
}

/// Returns the socket that launchd holds for this process, or `None` if launchd did not start it.
#[cfg(target_os = "macos")]
pub(crate) fn socket() -> Option<std::os::unix::net::UnixListener> {
    let binding: service_binding::Binding = format!("fd://{LISTENER}").parse().ok()?;
    match service_binding::Listener::try_from(binding).ok()? {
        service_binding::Listener::Unix(listener) => Some(listener),
        _ => None,
    }
}

/// Returns the agent's property list, to be written to `folder`.
///
/// `ProcessType` is `Interactive` because agents wait for answers: any other lets macOS throttle
/// disk and processor. By default a launchd process may open 256 files, and every waiting hook call
/// is one. The socket and all files are accessible to their owner only.
pub(crate) fn units(setup: &Setup, folder: &Path) -> Vec<Unit> {
    let socket = escaped(&setup.home.socket.to_string_lossy());
    let log = escaped(&setup.home.logs.join("daemon.log").to_string_lossy());
    let entry = |(name, value): &(String, String)| {
        let (name, value) = (escaped(name), escaped(value));
        format!("    <key>{name}</key>\n    <string>{value}</string>\n")
    };
    let environment: String = setup.env.iter().map(entry).collect();
    let text = filled(
        include_str!("launchd.plist"),
        &[
            ("label", LABEL),
            ("program", &escaped(&setup.program.to_string_lossy())),
            ("environment", &environment),
            ("listener", LISTENER),
            ("socket", &socket),
            ("log", &log),
        ],
    );
    vec![Unit {
        path: folder.join(format!("{LABEL}.plist")),
        text,
    }]
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Home;

    #[test]
    fn the_property_list_can_be_read_back() {
        let setup = Setup {
            program: "/opt/a & b/checkpointd".into(),
            home: Home::under(Path::new("/Users/u/<x>")),
            env: vec![("CHECKPOINTD_HOME".into(), "/Users/u/<x>".into())],
            user_namespaces: false,
        };
        let text = units(&setup, Path::new("/agents")).remove(0).text;
        let read: plist::Dictionary = plist::from_bytes(text.as_bytes()).expect("a property list");
        let words = read["ProgramArguments"].as_array().expect("a list");
        assert_eq!(words[0].as_string(), Some("/opt/a & b/checkpointd"));
        let env = read["EnvironmentVariables"]
            .as_dictionary()
            .expect("a table");
        assert_eq!(env["CHECKPOINTD_HOME"].as_string(), Some("/Users/u/<x>"));
        assert_eq!(read["Umask"].as_unsigned_integer(), Some(0o077));
        let socket = read["Sockets"].as_dictionary().expect("a table")[LISTENER]
            .as_dictionary()
            .expect("a table");
        assert_eq!(
            socket["SockPathName"].as_string(),
            Some("/Users/u/<x>/run/sock")
        );
        assert_eq!(socket["SockPathMode"].as_unsigned_integer(), Some(0o600));
        assert_eq!(
            read["StandardErrorPath"].as_string(),
            Some("/Users/u/<x>/logs/daemon.log")
        );
    }
}
