//! An event with its session, its sequence number and its times.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Agent, Event, Timestamp};

/// The stream an event belongs to: one session of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stream {
    /// The session's id in the journal: the host's id if that is a UUID, else derived from the agent and the host's id.
    pub session: Uuid,
    /// The agent of the session.
    pub agent: Agent,
    /// The host's id if it is not a UUID.
    pub native: Option<String>,
}

impl Stream {
    /// Returns the stream for a host's session id.
    pub fn of_native(agent: Agent, native: &str) -> Self {
        match Uuid::try_parse(native) {
            // Only the canonical form keeps its identity; `{..}`, urn and simple forms would not read back the same.
            Ok(session) if session.as_hyphenated().to_string() == native => Self {
                session,
                agent,
                native: None,
            },
            _ => {
                let name = format!("checkpointd:{agent}:{native}");
                let session = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
                Self {
                    session,
                    agent,
                    native: Some(native.to_owned()),
                }
            }
        }
    }

    /// Returns the stream of the daemon's own events.
    pub const fn daemon() -> Self {
        Self {
            session: Uuid::nil(),
            agent: Agent::Daemon,
            native: None,
        }
    }

    /// Returns the stream of phase records. Work outlives a session, so there is one stream for all sessions, in which
    /// they are also quick to find.
    pub const fn phases() -> Self {
        Self {
            session: Uuid::from_u128(0x7068_6173_6573_4000_8000_0000_0000_0001),
            agent: Agent::Daemon,
            native: None,
        }
    }

    /// Returns the stream for a collector's own records about the journals that it receives.
    pub const fn fleet() -> Self {
        Self {
            session: Uuid::from_u128(0x666c_6565_7400_4000_8000_0000_0000_0001),
            agent: Agent::Daemon,
            native: None,
        }
    }

    /// Returns the session's id in the journal of its own machine. A collector has another id for it if several journals
    /// have a session of that id.
    pub fn own_session(&self) -> Uuid {
        match &self.native {
            Some(native) => Self::of_native(self.agent, native).session,
            None => self.session,
        }
    }

    /// Returns the session id as the host writes it.
    pub fn native(&self) -> String {
        let native = self.native.clone();
        native.unwrap_or_else(|| self.session.to_string())
    }
}

/// An event to append: an envelope without the fields that the journal sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The session it belongs to.
    pub stream: Stream,
    /// When it happened, by the clock of the process that saw it.
    pub at: Timestamp,
    /// Identity: a second append with the same id is a duplicate.
    pub id: Uuid,
    /// What happened.
    pub event: Event,
    /// The host's payload as it was sent, limited in size; JSON or other text.
    pub payload: Option<String>,
}

/// An event of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Sequence number, gapless from 1.
    pub seq: u64,
    /// The session it belongs to.
    pub stream: Stream,
    /// When it happened, by the clock of the process that saw it.
    pub at: Timestamp,
    /// When the journal recorded it.
    pub recorded_at: Timestamp,
    /// Identity, which makes appends idempotent.
    pub id: Uuid,
    /// An event of the same session that happened later was recorded before.
    pub late: bool,
    /// What happened.
    pub event: Event,
    /// Where a collector received it from; `None` for an event of the journal's own machine. Stored after the other
    /// fields (`codec.rs`).
    #[serde(skip)]
    pub origin: Option<Box<Origin>>,
}

/// Where a collector has an event from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The machine's name, as its owner gave it.
    pub machine: String,
    /// Identity of the machine's journal.
    pub journal: Uuid,
    /// The event's sequence number in that journal, of several the first.
    pub seq: u64,
    /// The fields that the machine did not send. What they hold here says nothing.
    pub withheld: Vec<String>,
}

impl Envelope {
    /// Returns whether something of the event was not sent by its machine, so that nothing can be concluded from what
    /// is here.
    pub fn is_withheld(&self) -> bool {
        let origin = self.origin.as_ref();
        matches!(self.event, Event::Withheld { .. })
            || origin.is_some_and(|origin| !origin.withheld.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_uuid_keeps_its_identity_and_anything_else_gets_a_stable_one() {
        let native = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";
        let stream = Stream::of_native(Agent::Claude, native);
        assert_eq!(
            (
                stream.session.to_string().as_str(),
                stream.native.as_deref()
            ),
            (native, None)
        );
        for odd in ["abc", "10E54898-3D7E-4D3D-BFF0-5AA71C2B471A", ""] {
            let stream = Stream::of_native(Agent::Gemini, odd);
            assert_eq!(stream.native(), odd);
            assert_eq!(stream, Stream::of_native(Agent::Gemini, odd));
            assert_eq!(stream.own_session(), stream.session);
            assert_ne!(stream.session, Stream::of_native(Agent::Codex, odd).session);
        }
    }
}
