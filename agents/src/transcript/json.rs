//! Reading other programs' JSON: borrowed where possible, and patient with members of another type than expected.

use std::borrow::Cow;
use std::fmt;

use journal::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object. Its members are read when they are asked for; one of another type is the same as none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Text<'a>, &'a RawValue)>);

/// A text, borrowed if nothing in it is escaped.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Object<'a> {
    /// Reads a text that is an object.
    pub(crate) fn read(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Returns a member as it is written; none if it is missing or null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().find(|(known, _)| known.0 == name)?;
        Some(*raw).filter(|raw| raw.get() != "null")
    }

    /// Returns a member that has the shape of `T`.
    pub(crate) fn part<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        part(self.get(name))
    }

    /// Returns an object; without members if there is none.
    pub(crate) fn object(&self, name: &str) -> Self {
        self.part(name).unwrap_or_default()
    }

    /// Returns the objects of a list; none if it has anything else.
    pub(crate) fn objects(&self, name: &str) -> Vec<Self> {
        self.part(name).unwrap_or_default()
    }

    /// Returns a text.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.part(name).map(|Text(text)| text)
    }

    /// Returns a text; an empty one if there is none.
    pub(crate) fn word(&self, name: &str) -> Cow<'a, str> {
        self.text(name).unwrap_or_default()
    }

    /// Returns a text that is not empty.
    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.map(Cow::into_owned)
    }

    /// Returns `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.part(name)
    }

    /// Returns whether a member is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    /// Returns a number without its fraction.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.part(name).map(|number: f64| number as i64)
    }

    /// Returns a number that counts something.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.number(name)?.try_into().ok()
    }

    /// Returns the point in time that is this many milliseconds after the epoch.
    pub(crate) fn millis(&self, name: &str) -> Option<Timestamp> {
        let millis = self.number(name)?;
        Some(Timestamp::from_micros(millis.saturating_mul(1000)))
    }

    /// Returns the point in time that an RFC 3339 text names, the epoch if it names none.
    pub(crate) fn time(&self, name: &str) -> Timestamp {
        self.word(name).parse().unwrap_or_default()
    }

    /// Returns the words of a member, as [`plain`].
    pub(crate) fn plain(&self, name: &str) -> Cow<'a, str> {
        plain(self.get(name))
    }

    /// Returns a member in full, null if it is missing or broken.
    pub(crate) fn value(&self, name: &str) -> serde_json::Value {
        self.part(name).unwrap_or_default()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object(members))
    }
}

/// Reads a part that was set aside; none if it has another shape.
pub(crate) fn part<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// Returns the words of a result: a string, the `text` members of a list of parts, or of one part.
pub(crate) fn plain(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw.map_or(b' ', |raw| raw.get().as_bytes()[0]) {
        b'"' => part(raw).map_or_else(Cow::default, |Text(text)| text),
        b'[' => {
            let parts: Vec<Object<'_>> = part(raw).unwrap_or_default();
            let texts: Vec<_> = parts.iter().filter_map(|part| part.owned("text")).collect();
            texts.join("\n").into()
        }
        _ => part::<Object<'_>>(raw).unwrap_or_default().word("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unexpected_types_are_nothing() {
        for (json, expected) in [
            (r#"{"a":"x"}"#, (Some("x"), None, None)),
            (r#"{"a":"\u00e9"}"#, (Some("é"), None, None)),
            (r#"{"a":true}"#, (None, Some(true), None)),
            (r#"{"a":-3}"#, (None, None, Some(-3))),
            (r#"{"a":1.5}"#, (None, None, Some(1))),
            (r#"{"a":null}"#, (None, None, None)),
            (r#"{"a":[1,{"x":2}]}"#, (None, None, None)),
            (r#"{"a":{"x":[2]},"z":1}"#, (None, None, None)),
            (r#"{}"#, (None, None, None)),
        ] {
            let line = Object::read(json).expect("valid");
            let text = line.text("a");
            let found = (text.as_deref(), line.flag("a"), line.number("a"));
            assert_eq!(found, expected, "{json}");
        }
    }

    #[test]
    fn words_of_a_result() {
        for (json, expected) in [
            (r#"{"b":"x\ny"}"#, "x\ny"),
            (
                r#"{"b":[{"type":"text","text":"x"},{"type":"image"},{"text":"y"}]}"#,
                "x\ny",
            ),
            (r#"{"b":{"text":"x"}}"#, "x"),
            (r#"{"b":7}"#, ""),
            (r#"{"b":[1,2]}"#, ""),
            (r#"{}"#, ""),
        ] {
            let line = Object::read(json).expect("valid");
            assert_eq!(line.plain("b"), expected, "{json}");
        }
    }
}
