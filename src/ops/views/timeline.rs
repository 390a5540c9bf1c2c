//! A session's events with their places in its turns, and with what each changed.

use journal::{Envelope, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::event_line::EventLine;

/// An event of a session in its turn. In JSON its fields are beside those of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineLine {
    pub(crate) event: Envelope,
    pub(crate) place: Place,
}

/// Where an event belongs in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) turn: u64,
    /// Before the first turn: when the session began.
    pub(crate) turn_began_at: Option<Timestamp>,
    /// When a tool call began, for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began_at: Option<Timestamp>,
}

impl Serialize for TimelineLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = EventLine::new(self.event.clone()).to_json();
        let place = serde_json::to_value(&self.place).map_err(serde::ser::Error::custom)?;
        if let (Value::Object(line), Value::Object(place)) = (&mut line, place) {
            // A decision has a field `turn` itself.
            line.extend(place);
        }
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimelineLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Value::deserialize(deserializer)?;
        let place = Place::deserialize(&line).map_err(D::Error::custom)?;
        let event = EventLine::from_json(line).map_err(D::Error::custom)?.event;
        Ok(Self { event, place })
    }
}
