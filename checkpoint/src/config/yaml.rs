//! YAML texts in, values out, with errors in our own words. This is the one file that names the YAML crate.

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_saphyr::{Error as YamlError, Spanned};

use super::error::{ConfigError, did_you_mean};
use crate::rules::pack_names;

/// The default layer, with every key and a comment on each.
pub const DEFAULT_TEXT: &str = include_str!("../../config.yml");

/// Single keys that only `config.yml` has.
const ONLY_CONFIG: [&str; 2] = ["projects", "agents"];

/// Keys that only a project's file has.
pub(super) const ONLY_PROJECT: [&str; 2] = ["enabled", "working_slug"];

/// Returns whether a key is a group of keys, which only `config.yml` has; `config show` spells it out key by key.
pub(super) fn is_group(key: &str) -> bool {
    let mut lines = DEFAULT_TEXT.lines();
    lines.any(|line| line.strip_suffix(':') == Some(key))
}

/// Reads any YAML, of a file that is not ours; `None` if it is not YAML.
pub fn value(text: &str) -> Option<serde_json::Value> {
    serde_saphyr::from_str(text).ok()
}

/// A name in a file, with its place for later errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::<String>::deserialize(deserializer)?;
        let text = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.len() > 100 {
            return Err(serde::de::Error::custom(
                "expected a name of 1 to 100 bytes",
            ));
        }
        Ok(Self {
            text,
            line: referenced.line(),
            column: referenced.column(),
        })
    }
}

pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ConfigError> {
    serde_saphyr::from_str(text).map_err(|error| explain(file, text, error.without_snippet()))
}

/// Turns an error of the YAML crate into our own words.
fn explain(file: &str, text: &str, error: &YamlError) -> ConfigError {
    let mut hint = None;
    let message = match error {
        YamlError::SerdeUnknownField {
            field, expected, ..
        } => {
            hint = hint_for_key(field, expected);
            format!("unknown key `{field}`")
        }
        YamlError::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            hint = did_you_mean(variant, expected.iter().copied());
            format!("`{variant}` is not one of {}", expected.join(", "))
        }
        YamlError::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        YamlError::SerdeMissingField { field, .. } => format!("missing key `{field}`"),
        YamlError::SerdeInvalidType {
            unexpected,
            expected,
            ..
        }
        | YamlError::SerdeInvalidValue {
            unexpected,
            expected,
            ..
        } => {
            format!("expected {expected}, found {unexpected}")
        }
        YamlError::InvalidScalar { ty, .. } if ty.starts_with(['u', 'i']) => {
            "expected a whole number".to_owned()
        }
        YamlError::InvalidScalar { ty, .. } => format!("expected a value of type {ty}"),
        YamlError::Unexpected {
            expected: "mapping start",
            ..
        } => "expected keys with values (`key: value`)".to_owned(),
        YamlError::Unexpected {
            expected: "sequence start",
            ..
        } => "expected a list (`[a, b]`)".to_owned(),
        YamlError::Unexpected {
            expected: "string scalar",
            ..
        } => "expected a text".to_owned(),
        YamlError::Message { msg, .. } => {
            hint = hint_for_pack(msg);
            msg.clone()
        }
        YamlError::Budget { .. } => "the file has more values than can be read".to_owned(),
        other => {
            let text = other.to_string();
            text.split(" at line ").next().unwrap_or(&text).to_owned()
        }
    };
    match error.location() {
        Some(place) => {
            ConfigError::at(file, text, place.line(), place.column(), message).with_hint(hint)
        }
        None => ConfigError::whole(file, message).with_hint(hint),
    }
}

/// Returns a hint for an unknown key: a similar key, or the file that it belongs to.
fn hint_for_key(key: &str, expected: &[&'static str]) -> Option<String> {
    if (is_group(key) || ONLY_CONFIG.contains(&key)) && expected.contains(&"enabled") {
        return Some(format!("`{key}` belongs in config.yml"));
    }
    if ONLY_PROJECT.contains(&key) && expected.contains(&"projects") {
        return Some(format!("`{key}` belongs in the project's .checkpointd.yml"));
    }
    did_you_mean(key, expected.iter().copied())
        .or_else(|| Some(format!("the keys here are {}", expected.join(", "))))
}

/// Returns a hint for an unknown pack.
fn hint_for_pack(message: &str) -> Option<String> {
    let name = message.strip_prefix("unknown pack `")?.split('`').next()?;
    did_you_mean(name, pack_names::NAMES.iter().copied())
}
