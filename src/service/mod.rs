//! The daemon as a user service: systemd with socket activation, or launchd.
//!
//! A service is optional: hooks start the daemon if none listens. This module only writes the
//! units' text; `commands/service.rs` installs them, and `manager.rs` asks the manager.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use journal::Home;

pub(crate) mod launchd;
pub(crate) mod manager;
pub(crate) mod place;
pub(crate) mod systemd;

/// Variables that set paths: the service must use the same paths as the hooks.
const PLACES: [&str; 5] = [
    "CHECKPOINTD_HOME",
    "CHECKPOINTD_SOCKET",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The input of a service's files.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The `checkpointd` program, absolute.
    pub(crate) program: PathBuf,
    pub(crate) home: Home,
    pub(crate) env: Vec<(String, String)>,
    /// Whether the service manager starts programs in a user namespace.
    pub(crate) user_namespaces: bool,
}

impl Setup {
    /// Reads the setup from this process.
    pub(crate) fn current(home: &Home) -> std::io::Result<Self> {
        let var = |name: &str| std::env::var_os(name);
        let named = [home.socket.as_path(), &std::env::current_exe()?]
            .map(|path| path.to_string_lossy().into_owned());
        let env = places(var);
        // A line end would begin another setting of a unit.
        let texts = named.iter().chain(env.iter().map(|(_, value)| value));
        if (texts.into_iter()).any(|text| text.chars().any(char::is_control)) {
            let problem = "a folder of checkpointd has a control character in its name; rename it";
            return Err(std::io::Error::other(problem));
        }
        Ok(Self {
            // Not one that a package manager deletes, if `init` has made a copy.
            program: match place::copies(home).map(|folder| folder.join("checkpointd")) {
                Some(copy) if copy.is_file() => copy,
                _ => std::env::current_exe()?,
            },
            home: home.clone(),
            env,
            user_namespaces: false,
        })
    }
}

/// Returns the variables that are set, with absolute paths.
fn places(var: impl Fn(&str) -> Option<OsString>) -> Vec<(String, String)> {
    let set = |name: &&str| {
        let value = var(name).filter(|value| !value.is_empty())?;
        let absolute = std::path::absolute(Path::new(&value)).unwrap_or_else(|_| value.into());
        Some(((*name).to_owned(), absolute.to_str()?.to_owned()))
    };
    PLACES.iter().filter_map(set).collect()
}

/// Returns a template with values for the names in braces.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name);
    let parts = template.split(['{', '}']).enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part,
        _ => value(part).expect("each name has a value").1,
    });
    parts.collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}
