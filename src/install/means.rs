//! The inputs of a plan.

use std::path::Path;

use journal::Home;

use super::record::Record;

#[derive(Debug)]
pub(crate) struct Means<'a> {
    /// The paths of our own data.
    pub(crate) home: &'a Home,
    pub(crate) record: &'a Record,
    pub(crate) client: &'a Path,
    /// The daemon's longest wait for a reply.
    pub(crate) stop_wait_ms: u64,
    /// Whether the commands of [`super::prompts`] are added; those that were are kept up to date.
    pub(crate) adds_commands: bool,
}
