//! The name of an agent that the user's configuration describes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name of lower-case letters, digits and `-` that begins with a letter. It is as small as an id, so that agents are
/// copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName {
    /// Zeros follow the name.
    bytes: [u8; Self::BYTES_MAX],
    length: u8,
}

/// A text that is not an agent's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an agent's name: it has at most {max} lower-case letters, digits, and `-`, and begins with a letter",
    max = AgentName::BYTES_MAX
)]
pub struct BadName(String);

impl AgentName {
    /// The longest name in bytes.
    pub const BYTES_MAX: usize = 24;

    /// Reads a name.
    ///
    /// # Errors
    ///
    /// If the text is too long, or has other characters.
    pub fn new(text: &str) -> Result<Self, BadName> {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let begins = text.starts_with(|begin: char| begin.is_ascii_lowercase());
        if !begins || text.len() > Self::BYTES_MAX || !text.bytes().all(is_plain) {
            return Err(BadName(text.chars().take(Self::BYTES_MAX + 1).collect()));
        }
        let mut bytes = [0; Self::BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        let length = text.len() as u8;
        Ok(Self { bytes, length })
    }

    /// Returns the name.
    pub const fn as_str(&self) -> &str {
        let (name, _) = self.bytes.split_at(self.length as usize);
        match std::str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => "",
        }
    }
}

impl fmt::Debug for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl Serialize for AgentName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_word() {
        for name in ["a", "codebuddy", "vs-code", "a23456789012345678901234"] {
            assert_eq!(AgentName::new(name).expect("a name").as_str(), name);
        }
        for other in [
            "",
            "-a",
            "9a",
            "A",
            "a b",
            "a_b",
            "ä",
            "a/b",
            "a234567890123456789012345",
        ] {
            assert!(AgentName::new(other).is_err(), "{other}");
        }
    }
}
