//! The status that a running daemon reports.

use journal::Timestamp;
use serde::{Deserialize, Serialize};

/// The answer of `/healthz`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Health {
    /// Hook calls are taken.
    pub(crate) ok: bool,
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) uptime_ms: u64,
}

/// The answer of `/v1/status`: what only a running daemon knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DaemonStatus {
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) uptime_ms: u64,
    pub(crate) ready: bool,
    /// Number of sessions in memory.
    pub(crate) awake: usize,
    pub(crate) rejected: u64,
    pub(crate) overloaded: u64,
    pub(crate) unspooled: u64,
    pub(crate) duplicates: u64,
    pub(crate) restarted: u64,
    /// What recovery found, one line each.
    pub(crate) recovery: Vec<String>,
    /// What was damaged in the journal during the last 30 days and repaired.
    pub(crate) repaired: Vec<String>,
    pub(crate) config_error: Option<String>,
    pub(crate) otlp_error: Option<String>,
    /// What goes to a fleet's broker, or comes from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fleet: Option<FleetLine>,
    /// Health issues that have not gone away.
    pub(crate) degraded: Vec<String>,
}

/// What goes to a fleet's broker, or comes from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FleetLine {
    /// The broker's servers.
    pub(crate) url: String,
    /// The machine's name; none at the collector.
    pub(crate) machine: Option<String>,
    /// How much of each event is sent.
    pub(crate) level: Option<String>,
    /// The last event that the broker has.
    pub(crate) sent: u64,
    /// Number of events that the broker does not have yet.
    pub(crate) backlog: u64,
    /// When the broker last acknowledged some.
    pub(crate) sent_at: Option<Timestamp>,
    /// The last event that the collector has, when that was last asked.
    pub(crate) collected: Option<u64>,
    /// The last day on which the certificate holds.
    pub(crate) until: Option<String>,
    /// Why nothing is sent or received.
    pub(crate) trouble: Option<String>,
    /// Only at the collector: what it receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) collects: Option<Collects>,
}

/// What a collector receives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Collects {
    /// Number of journals that it has events of.
    pub(crate) journals: u64,
    /// Messages since the start.
    pub(crate) runs: u64,
    /// Messages that the broker still has for it.
    pub(crate) behind: u64,
    /// When the last ones came.
    pub(crate) taken_at: Option<Timestamp>,
    /// Machines whose events are refused, and why.
    pub(crate) parked: Vec<String>,
    /// What is not right with the broker's streams.
    pub(crate) notes: Vec<String>,
}
