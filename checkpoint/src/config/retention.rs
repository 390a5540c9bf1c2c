//! How long the journal keeps payloads.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use journal::Event;
use serde::{Deserialize, Serialize, Serializer};

use super::text::from_text;
use super::units::{DURATION_OR_FOREVER, Span, parse_duration};

/// How long payloads are kept. Events and decisions are kept forever.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// The period for kinds that `kinds` does not name.
    pub payloads: Keep,
    /// Periods for single kinds of events.
    pub kinds: BTreeMap<EventKind, Keep>,
}

/// A period, or `forever`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Payloads are dropped when they are older.
    For(Span),
    /// Payloads are never dropped.
    Forever,
}

impl Keep {
    /// Returns the period, `None` for `forever`.
    pub const fn period(self) -> Option<Duration> {
        if let Self::For(Span(period)) = self {
            Some(period)
        } else {
            None
        }
    }
}

impl Default for Keep {
    fn default() -> Self {
        Self::For(Span(Duration::from_secs(30 * 86_400)))
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(period) => period.fmt(f),
            Self::Forever => f.write_str("forever"),
        }
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

from_text!(Keep, DURATION_OR_FOREVER, |text: String| {
    if text.trim() == "forever" {
        return Ok(Self::Forever);
    }
    parse_duration(&text).map(|period| Self::For(Span(period)))
});

/// What a deserializer of [`EventKind`] expects.
pub(super) const EVENT_KIND: &str = "a kind of events";

/// The name of an event kind as JSON has it, such as `prompt_submitted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EventKind(pub String);

from_text!(EventKind, EVENT_KIND, |word: String| {
    if Event::KINDS.contains(&word.as_str()) {
        return Ok(Self(word));
    }
    Err(format!(
        "unknown event kind `{word}`; docs/journal.md lists the kinds"
    ))
});
