//! How much the journal holds.

use std::collections::BTreeMap;

use journal::{Agent, Renewal, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What `status` shows of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Overview {
    /// `None` if its identity cannot be read.
    pub(crate) journal: Option<JournalLine>,
    pub(crate) events: u64,
    /// Payloads that could not be read.
    pub(crate) rejected: usize,
    pub(crate) agents: Vec<AgentLine>,
    pub(crate) store_bytes: u64,
    pub(crate) intake_bytes: u64,
    pub(crate) hooks: HookFigures,
}

/// Identity of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalLine {
    pub(crate) id: Uuid,
    /// When it got this id.
    pub(crate) since: Timestamp,
    /// Why it got this id.
    pub(crate) because: Renewal,
    /// It has the events of other machines.
    pub(crate) collector: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentLine {
    pub(crate) agent: Agent,
    pub(crate) sessions: usize,
    pub(crate) last_at: Timestamp,
}

/// How long hook calls took until they were journaled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookFigures {
    pub(crate) calls: usize,
    pub(crate) p50_us: Option<u64>,
    pub(crate) p99_us: Option<u64>,
    /// Calls that came by the spool.
    pub(crate) later: u64,
}

/// What `journal stats` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stats {
    pub(crate) events: u64,
    pub(crate) sessions: usize,
    pub(crate) store_bytes: u64,
    pub(crate) intake_bytes: u64,
    /// Number of events of each kind.
    pub(crate) kinds: BTreeMap<String, u64>,
    /// Number of events of each agent.
    pub(crate) agents: BTreeMap<String, u64>,
}
