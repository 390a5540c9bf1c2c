//! What is kept beside an event of what its host said.

/// The payload of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// There never was one.
    #[default]
    None,
    /// As the host said it (bounded).
    Text(String),
    /// There was one; compaction dropped it by its age.
    Dropped,
}

impl Payload {
    /// Returns the text, where it is there.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// Returns the text, where it is there.
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
