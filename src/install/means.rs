//! What plans are made with.

use std::path::Path;

use journal::Home;

use super::record::Record;

/// What a plan is made with.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    /// Where our own data is.
    pub(crate) home: &'a Home,
    /// What was installed before.
    pub(crate) record: &'a Record,
    /// The hook client's path.
    pub(crate) client: &'a Path,
    /// The longest that the daemon may take for a reply.
    pub(crate) stop_wait_ms: u64,
}
