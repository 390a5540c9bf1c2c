//! What one session left open, and the answer table that says so.

use checkpoint::follow_up::OpenWork;
use checkpoint::judging::{Answer, OpenItem};
use checkpoint::record::Switch;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenView {
    pub(crate) session: Uuid,
    /// The decision whose evidence shows it; none if no stop was judged yet.
    pub(crate) decision: Option<u64>,
    /// What is open.
    pub(crate) open: Vec<OpenItem>,
    /// The answer for each changed unit of code.
    pub(crate) answers: Vec<Answer>,
    /// What kept its checkpoints from being sent.
    #[serde(default)]
    pub(crate) switches: Vec<Switch>,
}

impl OpenView {
    pub(crate) fn new(session: Uuid, found: Option<OpenWork>, switches: Vec<Switch>) -> Self {
        let decision = found.as_ref().map(|found| found.decision);
        let (open, answers) =
            found.map_or_else(Default::default, |found| (found.items, found.answers));
        Self {
            session,
            decision,
            open,
            answers,
            switches,
        }
    }
}
