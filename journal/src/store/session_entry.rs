//! What the store's indexes hold about a session and about a decision, without reading events.

use serde::{Deserialize, Serialize};

use crate::{Envelope, Stream, Timestamp};

/// Summary of a session, kept in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The session and its agent.
    pub stream: Stream,
    /// Sequence number of its first event.
    pub first_seq: u64,
    /// Sequence number of its last event.
    pub last_seq: u64,
    /// Time of its first event.
    pub first_at: Timestamp,
    /// Time of its latest hook event.
    pub last_at: Timestamp,
    /// Number of its events.
    pub events: u64,
}

impl SessionEntry {
    pub(crate) fn new(envelope: &Envelope) -> Self {
        Self {
            stream: envelope.stream.clone(),
            first_seq: envelope.seq,
            last_seq: envelope.seq,
            first_at: envelope.at,
            last_at: envelope.at,
            events: 1,
        }
    }

    pub(crate) fn with(mut self, envelope: &Envelope) -> Self {
        // Recovery may write an event a second time; it must not be counted again.
        if envelope.seq > self.last_seq {
            self.last_seq = envelope.seq;
            self.events += 1;
        }
        if envelope.event.host().is_some() {
            self.last_at = self.last_at.max(envelope.at);
        }
        self
    }
}

crate::words! {
    /// The outcome of delivering a decision.
    #[derive(Hash)]
    #[repr(u8)]
    pub enum Outcome {
        /// A pass: there is nothing to deliver.
        None = "none",
        /// Not delivered yet.
        Pending = "pending",
        /// The agent has received it.
        Confirmed = "confirmed",
        /// It did not reach the agent.
        Failed = "failed",
        /// It can no longer be determined.
        Expired = "expired",
    }
}

impl Outcome {
    pub(crate) const fn of(byte: u8) -> Self {
        match byte {
            1 => Self::Pending,
            2 => Self::Confirmed,
            3 => Self::Failed,
            4 => Self::Expired,
            _ => Self::None,
        }
    }
}
