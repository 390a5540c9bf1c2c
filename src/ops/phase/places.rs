//! Where phase records are kept.

use std::path::PathBuf;
use std::time::Duration;

use checkpoint::config::{Config, UserPath};
use checkpoint::redact::Redactor;
use journal::Home;

use crate::ops::refusal::{Refused, Result};

/// Where the files are, how long they are kept, and what they must not hold.
pub(crate) struct Places {
    pub(super) folder: PathBuf,
    pub(super) seed: Option<PathBuf>,
    pub(super) keep: Duration,
    pub(super) redactor: Redactor,
}

impl Places {
    /// Takes them from the settings; `~` is the user's folder in the environment.
    ///
    /// # Errors
    ///
    /// When a path needs the user's folder, and that is not known.
    pub(crate) fn of(home: &Home, config: &Config) -> Result<Self> {
        let settings = &config.settings.phase;
        let user = std::env::var("HOME").ok().filter(|user| !user.is_empty());
        let resolve = |path: &UserPath| {
            let resolved = path.resolve(user.as_deref()).map(PathBuf::from);
            resolved.ok_or((
                Refused::Files,
                format!("HOME is not set, and {} is relative to it", path.0),
            ))
        };
        Ok(Self {
            folder: match &settings.folder.0 {
                Some(folder) => resolve(folder)?,
                None => home.phases.clone(),
            },
            seed: settings.seed.0.as_ref().map(resolve).transpose()?,
            keep: settings.keep.0,
            redactor: config.redactor.clone(),
        })
    }
}
