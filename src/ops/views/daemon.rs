//! The status that a running daemon reports.

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
    /// Sessions that are in memory.
    pub(crate) awake: usize,
    pub(crate) rejected: u64,
    pub(crate) overloaded: u64,
    pub(crate) unspooled: u64,
    pub(crate) duplicates: u64,
    pub(crate) restarted: u64,
    /// What recovery found.
    pub(crate) recovery: Vec<String>,
    pub(crate) config_error: Option<String>,
    pub(crate) otlp_error: Option<String>,
    /// Health issues that have not gone away.
    pub(crate) degraded: Vec<String>,
}
