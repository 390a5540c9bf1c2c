//! Values that files write as texts: each refuses a wrong text at its place.

use std::fmt;

use serde::de::{Deserializer, Error as _, Visitor};

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
