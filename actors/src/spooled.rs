//! What the daemon knows of the spool ([`crate::spool`]).

use std::collections::HashMap;
use std::path::PathBuf;

use parking_lot::Mutex;

/// What the passes so far left in the spool.
#[derive(Default)]
pub(crate) struct Spooled {
    /// Held by the pass that is under way.
    pub(crate) pass: tokio::sync::Mutex<()>,
    /// Files that stay, and why.
    pub(crate) left: Mutex<HashMap<PathBuf, String>>,
    /// Why the last pass ended early, if it did.
    pub(crate) error: Mutex<Option<String>>,
}

impl Spooled {
    /// Why spooled calls could not be accepted, one line each.
    pub(crate) fn issues(&self) -> Vec<String> {
        let mut issues: Vec<String> = self.left.lock().values().cloned().collect();
        issues.sort();
        issues.extend(self.error.lock().clone());
        issues
    }
}
