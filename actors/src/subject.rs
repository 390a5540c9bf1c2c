//! What a decision is about, for those who gather its evidence.

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::state::SessionState;
use journal::Timestamp;

use crate::git;
use crate::others::Others;
use crate::work_tree_choice::Judged;

/// The session and the policy that a decision is about.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) config: &'a Config,
    pub(crate) state: &'a SessionState,
    pub(crate) policy: &'a Policy,
    pub(crate) judged: &'a Judged,
    /// When the turn stopped.
    pub(crate) stopped: Timestamp,
    /// The line by which work leaves.
    pub(crate) leaves: Option<&'a str>,
    /// The files that the calls name as written which hooks reported.
    pub(crate) named: &'a git::Named,
    /// Which session wrote a file last.
    pub(crate) others: &'a Others,
}
