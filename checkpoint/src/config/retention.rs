//! How long the journal keeps payloads.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use journal::Event;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::units::{Span, TextVisitor, parse_duration};

/// How long payloads are kept. Events and decisions are kept for ever.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Those of all events that are not named below.
    pub payloads: Keep,
    /// Those of events of one kind.
    pub kinds: BTreeMap<EventKind, Keep>,
}

/// A period, or `forever`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// So long.
    For(Span),
    /// For ever.
    Forever,
}

impl Keep {
    /// Returns the period; none is for ever.
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

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text =
            deserializer.deserialize_str(TextVisitor("a duration such as `30d`, or `forever`"))?;
        if text.trim() == "forever" {
            return Ok(Self::Forever);
        }
        parse_duration(&text)
            .map(|period| Self::For(Span(period)))
            .map_err(D::Error::custom)
    }
}

/// The machine word of a kind of events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EventKind(pub String);

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = deserializer.deserialize_str(TextVisitor("a kind of events"))?;
        if Event::KINDS.contains(&word.as_str()) {
            return Ok(Self(word));
        }
        Err(D::Error::custom(format!(
            "there are no events of kind `{word}`; docs/journal.md lists the kinds"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(retention: &str) -> Result<Retention, String> {
        let text = format!("journal: {{retention: {retention}}}\n");
        let config = Config::load(Some(("config.yml", &text))).map_err(|error| error.message)?;
        Ok(config.settings.journal.retention)
    }

    #[test]
    fn periods_are_set_for_all_kinds_and_for_single_ones() {
        let days = |days: u64| Some(Duration::from_secs(days * 86_400));
        let own = read("{kinds: {prompt_submitted: forever, tool_finished: 7d}}").expect("right");
        assert_eq!(own.payloads.period(), days(30));
        let kinds: Vec<_> = own
            .kinds
            .iter()
            .map(|(kind, keep)| (kind.0.as_str(), keep.period()))
            .collect();
        assert_eq!(
            kinds,
            [("prompt_submitted", None), ("tool_finished", days(7))]
        );
        assert_eq!(
            read("{payloads: forever}").expect("right").payloads,
            Keep::Forever
        );
        assert_eq!(
            Config::default().settings.journal.retention,
            Retention::default()
        );
    }

    #[test]
    fn a_kind_that_is_none_and_a_period_that_is_none_are_named() {
        assert!(
            read("{kinds: {tool_done: 7d}}")
                .expect_err("wrong")
                .contains("`tool_done`")
        );
        assert!(
            read("{payloads: long}")
                .expect_err("wrong")
                .contains("`long`")
        );
        assert!(
            read("{decisions: 7d}")
                .expect_err("wrong")
                .contains("`decisions`")
        );
    }
}
