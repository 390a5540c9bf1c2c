//! Deserializes a type from a source that gives almost no data and records what the type requests.
//!
//! A probe leads to one place within the type, by a path of keys and items, and gives only what lies on the path. What
//! the type asks for at its end is recorded, even if the type then refuses the value.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};

/// A step of a path into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The value of a key.
    Field(&'static str),
    /// An item of a list.
    Item,
    /// A key of a map with any keys.
    Key,
    /// The value of such a key.
    Value(&'static str),
}

impl Part {
    pub(super) const fn is_key(self) -> bool {
        matches!(self, Self::Field(_))
    }
}

/// What a type asks for; or what it is given at the end of a path, to see whether it takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing was recorded; as a gift, nothing.
    Unknown,
    Struct(&'static [&'static str]),
    /// Any form, with the words for what is expected.
    Any(String),
    /// As a gift, an empty list.
    List,
    /// As a gift, a map with a key that no type knows.
    Map,
    /// A text, with the words for what is expected.
    Text(String),
    /// A number up to this one.
    Number(u64),
    Switch,
    Words(&'static [&'static str]),
    /// A gift: the number zero.
    Zero,
    /// A gift: a text.
    Sample,
    /// A gift: a structure with these keys, each with a text.
    Filled(Vec<&'static str>),
}

/// Why a probe ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The place was reached.
    There,
    /// Another form is expected.
    Type,
    /// The form is right and the value is not.
    Value,
    Missing(&'static str),
    /// The key is not one of these.
    Keys(&'static [&'static str]),
    /// The word is not one of these.
    Words(&'static [&'static str]),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Value
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self::Type
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Words(expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Keys(expected)
    }
}

/// Deserializes a type from a probe.
pub(super) fn probe<T: DeserializeOwned>(probe: &Probe<'_>) -> Result<(), Stop> {
    T::deserialize(*probe).map(drop)
}

#[derive(Clone, Copy)]
pub(super) struct Probe<'a> {
    path: &'a [Part],
    gift: &'a Asked,
    asked: &'a RefCell<Asked>,
}

/// A text that no type knows as one of its words.
const SAMPLE: &str = "sample";

impl Probe<'_> {
    /// Leads a type to the end of a path, with a gift for it. Returns what it asked for there, and how it ended.
    pub(super) fn ask(
        of: fn(&Probe<'_>) -> Result<(), Stop>,
        path: &[Part],
        gift: Asked,
    ) -> (Asked, Result<(), Stop>) {
        let asked = RefCell::new(Asked::Unknown);
        let ended = of(&Probe {
            path,
            gift: &gift,
            asked: &asked,
        });
        (asked.into_inner(), ended)
    }

    fn record<T>(self, asked: Asked) -> Result<T, Stop> {
        self.asked.replace(asked);
        Err(Stop::There)
    }

    fn split(self) -> Option<(Part, Self)> {
        let (first, path) = self.path.split_first()?;
        Some((*first, Self { path, ..self }))
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.gift {
            Asked::Sample => visitor.visit_str(SAMPLE),
            _ => self.record(Asked::Text(expected(&visitor))),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, most: u64, visitor: V) -> Result<V::Value, Stop> {
        match self.gift {
            Asked::Zero => visitor.visit_u64(0),
            _ => self.record(Asked::Number(most)),
        }
    }
}

/// Returns a visitor's own description of what it expects.
fn expected<'de>(visitor: &impl Visitor<'de>) -> String {
    let expected: &dyn de::Expected = visitor;
    expected.to_string()
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        if let Some((part, below)) = self.split() {
            return match part {
                Part::Item => visitor.visit_seq(Given::one(below)),
                Part::Field(key) => visitor.visit_map(Given::key(key, below)),
                Part::Key | Part::Value(_) => Err(Stop::Type),
            };
        }
        match self.gift {
            Asked::Sample => visitor.visit_str(SAMPLE),
            Asked::List => visitor.visit_seq(Given::none(self)),
            Asked::Map => visitor.visit_map(Given::key(SAMPLE, self)),
            _ => self.record(Asked::Any(expected(&visitor))),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.text(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.number(u16::MAX.into(), visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.number(u32::MAX.into(), visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stop> {
        self.record(Asked::Switch)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    /// The reader of YAML gives a text with its place by such a structure.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        match name {
            "__yaml_spanned" => self.record(Asked::Text("a name".into())),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.split() {
            Some((_, below)) => visitor.visit_seq(Given::one(below)),
            None => self.record(Asked::List),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.split() {
            Some((Part::Value(key), below)) => visitor.visit_map(Given::key(key, below)),
            Some((_, below)) => visitor.visit_map(Given::one(below)),
            None => self.record(Asked::Map),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        if let Some((part, below)) = self.split() {
            return match part {
                Part::Field(key) => visitor.visit_map(Given::key(key, below)),
                _ => Err(Stop::Type),
            };
        }
        match self.gift {
            Asked::Filled(keys) => visitor.visit_map(Given::keys(keys, self)),
            _ => self.record(Asked::Struct(fields)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Stop> {
        self.record(Asked::Words(words))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier ignored_any
    }
}

/// The gift for the value of each key of a filled structure.
static TEXT: Asked = Asked::Sample;

/// The keys and values, or the one item, that a probe gives.
struct Given<'a> {
    keys: Vec<&'static str>,
    value: Probe<'a>,
    /// An item of a list, or a key of a map, that is a place of the path.
    item: bool,
}

impl<'a> Given<'a> {
    fn none(value: Probe<'a>) -> Self {
        let (keys, item) = (Vec::new(), false);
        Self { keys, value, item }
    }

    fn one(value: Probe<'a>) -> Self {
        let item = true;
        Self {
            item,
            ..Self::none(value)
        }
    }

    fn key(key: &'static str, value: Probe<'a>) -> Self {
        let keys = vec![key];
        Self {
            keys,
            ..Self::none(value)
        }
    }

    fn keys(keys: &[&'static str], value: Probe<'a>) -> Self {
        let mut keys = keys.to_vec();
        keys.reverse();
        let value = Probe {
            gift: &TEXT,
            ..value
        };
        Self {
            keys,
            ..Self::none(value)
        }
    }
}

impl<'de> SeqAccess<'de> for Given<'_> {
    type Error = Stop;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        if std::mem::take(&mut self.item) {
            return seed.deserialize(self.value).map(Some);
        }
        Ok(None)
    }
}

impl<'de> MapAccess<'de> for Given<'_> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        if std::mem::take(&mut self.item) {
            return seed.deserialize(self.value).map(Some);
        }
        let Some(key) = self.keys.pop() else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Stop> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        seed.deserialize(self.value)
    }
}
