//! Reading other programs' JSON: borrowed where possible, and patient with fields of another type than expected.

use std::borrow::Cow;
use std::fmt;

use journal::Timestamp;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string, number or flag; anything else in its place is the same as nothing.
#[derive(Clone, Debug, Default)]
pub(crate) enum Scalar<'a> {
    /// Missing, null, a list or an object.
    #[default]
    Nothing,
    /// `true` or `false`.
    Flag(bool),
    /// A number without its fraction.
    Number(i64),
    Text(Cow<'a, str>),
}

impl<'a> Scalar<'a> {
    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self {
            text
        } else {
            ""
        }
    }

    pub(crate) fn owned(&self) -> Option<String> {
        Some(self.text())
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        if let Self::Flag(flag) = self {
            Some(*flag)
        } else {
            None
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.flag() == Some(true)
    }

    pub(crate) fn number(&self) -> Option<i64> {
        if let Self::Number(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    pub(crate) fn count(&self) -> Option<u64> {
        self.number().and_then(|number| number.try_into().ok())
    }

    /// Returns the point in time that is this many milliseconds after the epoch.
    pub(crate) fn millis(&self) -> Option<Timestamp> {
        let millis = self.number()?;
        Some(Timestamp::from_micros(millis.saturating_mul(1000)))
    }

    /// Returns the point in time that an RFC 3339 text names, the epoch if it names none.
    pub(crate) fn time(&self) -> Timestamp {
        self.text().parse().unwrap_or_default()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Scalar::Nothing, Scalar::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number as i64))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

/// A block of a message's content, as Anthropic's API has it, and several agents after it.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Scalar<'a>,
    pub(crate) text: Scalar<'a>,
    pub(crate) id: Scalar<'a>,
    pub(crate) name: Scalar<'a>,
    #[serde(alias = "arguments")]
    pub(crate) input: Option<&'a RawValue>,
    pub(crate) tool_use_id: Scalar<'a>,
    pub(crate) is_error: Scalar<'a>,
    pub(crate) content: Option<&'a RawValue>,
}

/// Reads a part that was set aside; none if it has another shape.
pub(crate) fn part<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// Reads a part in full, null if it is missing or broken.
pub(crate) fn value(raw: Option<&RawValue>) -> serde_json::Value {
    part(raw).unwrap_or_default()
}

/// Returns the words of a result: a string, the `text` fields of a list of parts, or of one part.
pub(crate) fn plain(raw: Option<&RawValue>) -> Cow<'_, str> {
    #[derive(serde::Deserialize)]
    struct Part<'a> {
        #[serde(borrow, default)]
        text: Scalar<'a>,
    }
    let Some(text) = raw.map(RawValue::get) else {
        return Cow::Borrowed("");
    };
    match text.as_bytes().first() {
        Some(b'"') => match part::<Scalar<'_>>(raw) {
            Some(Scalar::Text(text)) => text,
            _ => Cow::Borrowed(""),
        },
        Some(b'[') => {
            let parts: Vec<Part<'_>> = part(raw).unwrap_or_default();
            let texts: Vec<&str> = parts
                .iter()
                .map(|part| part.text.text())
                .filter(|text| !text.is_empty())
                .collect();
            Cow::Owned(texts.join("\n"))
        }
        _ => Cow::Owned(
            part::<Part<'_>>(raw)
                .and_then(|part| part.text.owned())
                .unwrap_or_default(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Line<'a> {
        #[serde(borrow, default)]
        a: Scalar<'a>,
        #[serde(borrow, default)]
        b: Option<&'a RawValue>,
    }

    #[test]
    fn unexpected_types_are_nothing() {
        for (json, expected) in [
            (r#"{"a":"x"}"#, "Text(\"x\")"),
            (r#"{"a":"\u00e9"}"#, "Text(\"é\")"),
            (r#"{"a":true}"#, "Flag(true)"),
            (r#"{"a":-3}"#, "Number(-3)"),
            (r#"{"a":1.5}"#, "Number(1)"),
            (r#"{"a":18446744073709551615}"#, "Nothing"),
            (r#"{"a":null}"#, "Nothing"),
            (r#"{"a":[1,{"x":2}]}"#, "Nothing"),
            (r#"{"a":{"x":[2]},"z":1}"#, "Nothing"),
            (r#"{}"#, "Nothing"),
        ] {
            let line: Line<'_> = serde_json::from_str(json).expect("valid");
            assert_eq!(format!("{:?}", line.a), expected, "{json}");
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
            let line: Line<'_> = serde_json::from_str(json).expect("valid");
            assert_eq!(plain(line.b), expected, "{json}");
        }
    }
}
