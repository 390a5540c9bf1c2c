//! The host's payload that is stored beside an event.

use serde_json::Value;

/// The maximum number of levels of lists and objects in a stored JSON text that is shown as JSON. Ordinary readers of
/// JSON have limits from 128 levels on, and answers put the text into other objects (spec JRNL-26).
pub const LEVELS_MAX: usize = 100;

/// Returns how many levels of lists and objects a value has: 0 for a number, 1 for `{}`.
pub fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns a stored text as a JSON object: its own, or `{"text": ..}` with all of it if it is none or has more than
/// [`LEVELS_MAX`] levels.
pub fn shown(text: &str) -> Value {
    let own = serde_json::from_str(text).ok();
    own.filter(|own: &Value| own.is_object() && levels(own) <= LEVELS_MAX)
        .unwrap_or_else(|| wrap(text))
}

pub(crate) fn wrap(text: &str) -> Value {
    serde_json::json!({ "text": text })
}

/// The payload of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// The event never had one.
    #[default]
    None,
    /// The text as the host sent it, limited in size.
    Text(String),
    /// Compaction dropped it because of its age.
    Dropped,
}

impl Payload {
    /// Returns the text, if it is still stored.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// Returns the text, if it is still stored.
    pub fn into_text(self) -> Option<String> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
}

impl From<Option<String>> for Payload {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::None, Self::Text)
    }
}
