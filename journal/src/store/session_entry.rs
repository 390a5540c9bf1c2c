//! What the store's index tells without an event being read: of a session, and of a decision.

use serde::{Deserialize, Serialize};

use crate::{Envelope, Stream, Timestamp};

/// What the journal knows of a session without reading its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The session.
    pub stream: Stream,
    /// Its first event.
    pub first_seq: u64,
    /// Its last event.
    pub last_seq: u64,
    /// When its first event happened.
    pub first_at: Timestamp,
    /// When its last hook event happened.
    pub last_at: Timestamp,
    /// How many events it has.
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
        // Recovery may write an event again that is already here: counting it twice would be wrong for ever.
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

/// How the delivery of a decision stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// There was nothing to deliver.
    None = 0,
    /// On its way.
    Pending = 1,
    /// The agent has it.
    Confirmed = 2,
    /// It did not arrive.
    Failed = 3,
    /// Nobody can tell any more.
    Expired = 4,
}

impl Outcome {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }

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
