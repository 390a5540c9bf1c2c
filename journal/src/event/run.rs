//! A run of a journal's events, as a collector took it in.

use serde::{Deserialize, Serialize};

/// Consecutive events of one machine's journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The machine's name, as its owner gave it.
    pub machine: String,
    /// Id of the machine's journal, a UUID.
    pub journal: String,
    /// Sequence number of the first event in that journal.
    pub first: u64,
    /// Sequence number of the last one.
    pub last: u64,
    /// What the machine sent of each event: `decisions`, `skeleton` or `all`.
    pub level: String,
    /// Hash over the run and all runs before it, as the machine sent it.
    pub chain: String,
    /// Its number in the broker's stream; 0 if it came in a file.
    #[serde(default)]
    pub sequence: u64,
}
