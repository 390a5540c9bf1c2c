//! The host's payload that is stored beside an event.

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
