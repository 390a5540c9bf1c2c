//! The units for systemd's user manager: a socket that always exists, and the service that it
//! activates at the first hook call.

use std::path::{Path, PathBuf};

use super::{Setup, Unit, filled};

pub(crate) const SERVICE: &str = "checkpointd.service";
pub(crate) const SOCKET: &str = "checkpointd.socket";

pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(base.join("systemd/user"))
}

/// What it can restrict in a user namespace, which some systems forbid. The service would not start
/// there.
const IN_USER_NAMESPACE: &str = "\
PrivateUsers=yes
CapabilityBoundingSet=
ProtectSystem=full
PrivateMounts=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
";

/// Returns a command that succeeds if the user's manager can start a program in a user namespace.
pub(crate) fn namespace_trial() -> Vec<&'static str> {
    let mut words = vec!["systemd-run", "--user", "--quiet", "--wait", "--collect"];
    words.extend(IN_USER_NAMESPACE.lines().flat_map(|line| ["-p", line]));
    words.push("/bin/true");
    words
}

/// Returns both units, to be written to `folder`.
pub(crate) fn units(setup: &Setup, folder: &Path) -> Vec<Unit> {
    let line = |(name, value): &(String, String)| {
        format!("Environment={}\n", quoted(&format!("{name}={value}")))
    };
    let environment: String = setup.env.iter().map(line).collect();
    let in_namespace = match setup.user_namespaces {
        true => IN_USER_NAMESPACE,
        false => "",
    };
    // What the unit restricts is what the user's manager can restrict without privileges, and leaves the daemon what
    // it needs: git in any project, the user's tmux server, and the user's own commands.
    let service = filled(
        include_str!("checkpointd.service"),
        &[
            ("program", &quoted(&setup.program.to_string_lossy())),
            ("environment", &environment),
            ("namespace", in_namespace),
        ],
    );
    let socket = percent(&setup.home.socket.to_string_lossy());
    let socket = filled(include_str!("checkpointd.socket"), &[("socket", &socket)]);
    vec![
        Unit {
            path: folder.join(SOCKET),
            text: socket,
        },
        Unit {
            path: folder.join(SERVICE),
            text: service,
        },
    ]
}

/// Escapes percent signs, which start specifiers.
fn percent(text: &str) -> String {
    text.replace('%', "%%")
}

/// Quotes a text as one word of a unit's setting.
fn quoted(text: &str) -> String {
    // A dollar sign would start a variable in a command line.
    let escaped = percent(text).replace('\\', "\\\\").replace('"', "\\\"");
    let escaped = escaped.replace('\n', "\\n").replace('$', "$$");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Home;

    #[test]
    fn units_name_program_places_and_socket_with_signs_escaped() {
        let setup = Setup {
            program: "/opt/my tools/checkpointd".into(),
            home: Home::under(Path::new("/home/u/100%")),
            env: vec![("CHECKPOINTD_HOME".into(), "/home/u/100%".into())],
            user_namespaces: false,
        };
        let units = units(&setup, Path::new("/units"));
        assert_eq!(units[0].path, Path::new("/units/checkpointd.socket"));
        assert!(
            units[0]
                .text
                .contains("\nListenStream=/home/u/100%%/run/sock\n")
        );
        assert!(
            units[1]
                .text
                .contains("\nExecStart=\"/opt/my tools/checkpointd\" daemon\n")
        );
        assert!(
            units[1]
                .text
                .contains("\nEnvironment=\"CHECKPOINTD_HOME=/home/u/100%%\"\n")
        );
    }
}
