//! Reads the lines of an export: as [`codec::from_json`], without a tree of values for what is kept as text.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::EnumAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer as _, EnumAccess, Error as _, IgnoredAny, IntoDeserializer as _,
    VariantAccess, Visitor,
};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Error};
use uuid::Uuid;

use crate::{Agent, Envelope, Event, Payload, Stream, Timestamp, codec};

/// The form of a machine's own event in a line, without the fields of its kind.
#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    at: Timestamp,
    recorded_at: Timestamp,
    session: Uuid,
    #[serde(borrow)]
    native_session: Cow<'a, str>,
    agent: Agent,
    id: Uuid,
    late: bool,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(default)]
    payload_dropped: bool,
    withheld: Option<Vec<String>>,
    journal: Option<IgnoredAny>,
}

/// An event whose fields are in the same line as those of [`Line`], under other names.
struct Fields<'a> {
    kind: &'a str,
    text: &'a str,
}

impl<'a> EnumAccess<'a> for Fields<'a> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let variant = seed.deserialize(self.kind.into_deserializer())?;
        Ok((variant, self))
    }
}

impl<'a> VariantAccess<'a> for Fields<'a> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(&mut Deserializer::from_str(self.text))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("an event has names for its fields"))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Deserializer::from_str(self.text).deserialize_map(visitor)
    }
}

/// Reads a line of an event that is the machine's own. Returns it, its payload, and what the machine withheld of it. `None`
/// if it is not plainly one; [`codec::from_json`] may still read it, and says what is wrong.
pub fn read(text: &str) -> Option<(Envelope, Payload, Vec<String>)> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    if line.journal.is_some() || !codec::texts_of_json(&line.kind).is_empty() {
        return None;
    }
    let payload = match line.payload {
        None if line.payload_dropped => Payload::Dropped,
        None => Payload::None,
        // A text in an object may replace what is not JSON.
        Some(raw) if raw.get().starts_with("{\"text\":") => return None,
        Some(raw) => Payload::Text(raw.get().to_owned()),
    };
    let fields = Fields {
        kind: &line.kind,
        text,
    };
    let event = Event::deserialize(EnumAccessDeserializer::new(fields)).ok()?;
    let native = line.native_session.into_owned();
    let native = (native != line.session.to_string()).then_some(native);
    let envelope = Envelope {
        seq: line.seq,
        stream: Stream {
            session: line.session,
            agent: line.agent,
            native,
        },
        at: line.at,
        recorded_at: line.recorded_at,
        id: line.id,
        late: line.late,
        event,
        origin: None,
    };
    Some((envelope, payload, line.withheld.unwrap_or_default()))
}
