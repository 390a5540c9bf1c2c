//! An event as the line of JSON that `tail` and the API show.

use journal::{Envelope, Payload, codec};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An event. Its JSON is that of [`codec::to_view`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventLine {
    pub(crate) event: Envelope,
    /// None leaves the field `payload` out.
    pub(crate) payload: Option<Payload>,
    /// Whether the JSON is that of [`codec::to_export`].
    pub(crate) is_export: bool,
}

impl EventLine {
    pub(crate) const fn new(event: Envelope) -> Self {
        Self {
            event,
            payload: None,
            is_export: false,
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let payload = self.payload.as_ref().unwrap_or(&Payload::None);
        let mut line = if self.is_export {
            codec::to_export(&self.event, payload)
        } else {
            codec::to_view(&self.event, payload)
        };
        if let (None, Value::Object(fields)) = (&self.payload, &mut line) {
            fields.shift_remove("payload");
        }
        line
    }

    /// Reads a line that may have fields of others beside those of the event.
    pub(super) fn from_json(line: Value) -> Result<Self, String> {
        let has_payload = line.get("payload").is_some();
        let (event, payload) = codec::from_json(line)?;
        let payload = has_payload.then_some(payload);
        Ok(Self {
            payload,
            ..Self::new(event)
        })
    }
}

impl Serialize for EventLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
