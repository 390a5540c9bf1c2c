//! Where a row of a collector came from.

use journal::Envelope;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where a row of a collector came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) machine: String,
    /// Id of the machine's journal.
    pub(crate) journal: Uuid,
    /// The event's sequence number there.
    pub(crate) journal_seq: u64,
    /// Fields that the machine did not send; their values here are meaningless.
    pub(crate) withheld: Vec<String>,
}

impl Source {
    /// Returns where an event came from; `None` for one of the journal's own machine.
    pub(crate) fn of(envelope: &Envelope) -> Option<Self> {
        let origin = envelope.origin.as_deref()?;
        Some(Self {
            machine: origin.machine.clone(),
            journal: origin.journal,
            journal_seq: origin.seq,
            withheld: origin.withheld.clone(),
        })
    }
}

/// Where a session of a collector came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SessionSource {
    pub(crate) machine: String,
    /// Id of the machine's journal.
    pub(crate) journal: Uuid,
}
