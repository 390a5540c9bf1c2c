//! Values that files write in two forms.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, Error as _, Visitor};

/// Reads a value that is a text, or has another form: a group of keys, or else a list. Returns the text as an error, for the
/// caller to read or refuse it.
///
/// # Errors
///
/// If it has neither form.
pub fn text_or<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
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
