//! Limits of a request to git.

use std::time::Duration;

/// Limits of one inspection.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Time limit for all git commands together.
    pub within: Duration,
    /// The most changed files returned.
    pub files_max: usize,
}
