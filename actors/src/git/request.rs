//! What an inspection is asked for.

use std::time::Duration;

use checkpoint::state::Head;
use journal::Timestamp;

use super::named::Named;

/// The request of an inspection.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// When the turn began, if its commits count.
    pub since: Option<Timestamp>,
    /// Where HEAD was then: only what it did not have counts.
    pub head: Option<Head>,
    /// Whether it matters what the changed files hold.
    pub contents: bool,
    /// Whether it matters that only comments changed.
    pub comments: bool,
    /// Whether files are likely to have changed. A git that reads what they held before is then started early.
    pub likely: bool,
    /// The files that the turn's calls name as written.
    pub named: Named,
    /// When the turn's calls could commit; `None` if that is not known.
    pub spans: Option<Vec<(Timestamp, Timestamp)>>,
    /// Patterns of the files that are to be listed too, whether they changed or not.
    pub listed: &'static [&'static str],
}

/// Limits of one inspection.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Time limit for all git commands together.
    pub within: Duration,
    /// The most changed files returned.
    pub files_max: usize,
}
