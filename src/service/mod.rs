//! The daemon as a service of the user's own service manager: systemd with socket activation, or launchd.
//!
//! A service is a comfort, not a need: hooks start the daemon where none listens. The units are
//! text alone; `commands/service.rs` puts them in place, and `manager.rs` asks the manager.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use journal::Home;

pub(crate) mod launchd;
pub(crate) mod manager;
pub(crate) mod systemd;

/// The variables that say where things are: the service must find the same places as the hooks.
const PLACES: [&str; 5] = [
    "CHECKPOINTD_HOME",
    "CHECKPOINTD_SOCKET",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// What a service needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The `checkpointd` program, absolute.
    pub(crate) program: PathBuf,
    /// Where things are.
    pub(crate) home: Home,
    /// Variables to run it with.
    pub(crate) env: Vec<(String, String)>,
}

impl Setup {
    /// Reads it from this process.
    ///
    /// # Errors
    ///
    /// When the program cannot tell where it lies.
    pub(crate) fn current(home: &Home) -> std::io::Result<Self> {
        let var = |name: &str| std::env::var_os(name);
        Ok(Self {
            program: std::env::current_exe()?,
            home: home.clone(),
            env: places(var),
        })
    }
}

/// Returns those of the variables that are set, with paths made absolute.
fn places(var: impl Fn(&str) -> Option<OsString>) -> Vec<(String, String)> {
    let set = |name: &&str| {
        let value = var(name).filter(|value| !value.is_empty())?;
        let absolute = std::path::absolute(Path::new(&value)).unwrap_or_else(|_| value.into());
        Some(((*name).to_owned(), absolute.to_str()?.to_owned()))
    };
    PLACES.iter().filter_map(set).collect()
}

/// A file of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Where it belongs.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
}
