//! Loads the configuration: the user's file over the compiled-in defaults.

use std::io::ErrorKind;
use std::path::Path;

use checkpoint::config::Config;
use journal::Home;

use crate::error::{Failure, Result};

/// Returns the paths of all our files.
pub(crate) fn home() -> Result<Home> {
    Home::from_env().ok_or_else(|| {
        Failure::usage("neither CHECKPOINTD_HOME nor HOME is set")
            .hint("set CHECKPOINTD_HOME to a folder that checkpointd may use")
    })
}

pub(crate) fn load(path: &Path) -> Result<Config> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => {
            return Err(Failure::usage(format!(
                "cannot read {}: {error}",
                path.display()
            )));
        }
    };
    check(path, &text)
}

/// Parses a configuration.
pub(crate) fn check(path: &Path, text: &str) -> Result<Config> {
    let name = path.display().to_string();
    Config::load(Some((&name, text))).map_err(Failure::usage)
}
