//! Facts about a turn that its timeline does not hold.

use serde::{Deserialize, Serialize};

/// What was read for a decision besides [`crate::Evidence`]: from outputs, from the session before the turn, and from the
/// project's files.
///
/// It is stored as JSON, so a fact that a program does not know is skipped and a missing one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Changed files whose text the agent had before the turn, as the agent wrote their paths.
    pub known_files: Vec<String>,
    /// Folders of the packages that the changed files belong to, relative to the top, which is empty; sorted. Only if
    /// the policy asks for them.
    pub packages: Vec<String>,
}

/// Stores facts as a JSON object in formats for people, and as its text in others.
pub(crate) mod as_json {
    use serde::{
        Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _,
    };

    use super::Facts;

    pub(crate) fn serialize<S: Serializer>(
        facts: &Facts,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return facts.serialize(serializer);
        }
        let text = serde_json::to_string(facts).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Box<Facts>, D::Error> {
        if deserializer.is_human_readable() {
            return Box::deserialize(deserializer);
        }
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}
