//! Values that files write as texts: each refuses a wrong text at its place.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, Error as _, Visitor};

/// Reads a text, and from it a value. It is refused here and not in the visitor: only here does the error get its place.
pub(super) fn read_text<'de, D: Deserializer<'de>, T, E: fmt::Display>(
    deserializer: D,
    expected: &'static str,
    read: impl FnOnce(String) -> Result<T, E>,
) -> Result<T, D::Error> {
    read(deserializer.deserialize_str(TextVisitor(expected))?).map_err(D::Error::custom)
}

/// Has a type read from a text, by what is expected and a function that refuses others.
macro_rules! from_text {
    ($name:ty, $expected:expr, $read:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::config::text::read_text(deserializer, $expected, $read)
            }
        }
    };
}

/// Has a type read from a text, or from a word for none.
macro_rules! or_word {
    ($name:ident, $inner:ty, $word:literal, $expected:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.as_ref().map_or($word, |inner| &inner.0))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = $crate::config::text::read_text(deserializer, $expected, Ok::<_, &str>)?;
                if text == $word {
                    return Ok(Self(None));
                }
                let text = serde::de::value::StringDeserializer::new(text);
                <$inner as serde::Deserialize>::deserialize(text).map(|inner| Self(Some(inner)))
            }
        }
    };
}

pub(super) use {from_text, or_word};

/// Reads a value that is a text, or has another form: a group of keys, or else a list. Returns the text as an error, for the
/// caller to refuse it.
pub(super) fn text_or<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    expected: &'static str,
    is_group: bool,
) -> Result<Result<T, String>, D::Error> {
    deserializer.deserialize_any(TextOr {
        expected,
        is_group,
        other: PhantomData,
    })
}

struct TextOr<T> {
    expected: &'static str,
    is_group: bool,
    other: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOr<T> {
    type Value = Result<T, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Err(text.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        if self.is_group {
            return Err(A::Error::invalid_type(de::Unexpected::Seq, &self));
        }
        T::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Ok)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, keys: A) -> Result<Self::Value, A::Error> {
        if !self.is_group {
            return Err(A::Error::invalid_type(de::Unexpected::Map, &self));
        }
        T::deserialize(de::value::MapAccessDeserializer::new(keys)).map(Ok)
    }
}

/// Accepts a string; its text says what was expected.
struct TextVisitor(&'static str);

impl Visitor<'_> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}
