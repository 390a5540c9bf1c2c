//! Finding the configuration: the user's file laid over the compiled-in defaults.

use std::io::ErrorKind;
use std::path::Path;

use checkpoint::config::Config;
use journal::Home;

use crate::error::{Failure, Result};

/// Returns where everything is.
///
/// # Errors
///
/// When the environment does not say.
pub(crate) fn home() -> Result<Home> {
    Home::from_env().ok_or_else(|| {
        Failure::usage("neither CHECKPOINTD_HOME nor HOME is set")
            .hint("set CHECKPOINTD_HOME to a folder that checkpointd may use")
    })
}

/// Reads the user's configuration.
///
/// # Errors
///
/// When the file is there and cannot be read, or says something that is not right.
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

/// Reads a configuration from a text.
///
/// # Errors
///
/// When it says something that is not right; the message names the place.
pub(crate) fn check(path: &Path, text: &str) -> Result<Config> {
    let name = path.display().to_string();
    Config::load(Some((&name, text))).map_err(Failure::usage)
}
