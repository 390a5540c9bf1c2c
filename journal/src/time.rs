//! Points in time as the journal stores them: whole microseconds since the Unix epoch, UTC.
//!
//! RFC 3339 text in JSON, an integer in the binary format. Only [`Timestamp::now`] reads a clock, and only the outer layers
//! call it.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in microseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Wraps a count of microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Reads the system clock.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Returns the time from `earlier` to `self`, zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the milliseconds from `earlier` to `self`, zero when `earlier` is later.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.since(earlier).as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the point `by` later, or the latest representable one.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(micros(by)))
    }

    /// Returns the point `by` earlier, or the earliest representable one.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(micros(by)))
    }

    /// Returns the same point for calendars and time zones, bounded to the years that they know.
    pub fn to_jiff(self) -> jiff::Timestamp {
        let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
        let bounded = (self.0).clamp(first.as_microsecond(), last.as_microsecond());
        jiff::Timestamp::from_microsecond(bounded).unwrap_or_default()
    }
}

fn micros(of: Duration) -> i64 {
    i64::try_from(of.as_micros()).unwrap_or(i64::MAX)
}

/// A time before 1970 becomes its beginning.
impl From<SystemTime> for Timestamp {
    fn from(at: SystemTime) -> Self {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.to_jiff())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(serde::de::Error::custom)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_rfc3339_with_microseconds_and_reads_back() {
        let at: Timestamp = "2026-11-21T21:18:56.177105Z".parse().expect("valid");
        assert_eq!(at.as_micros(), 1_795_295_936_177_105);
        assert_eq!(at.to_string(), "2026-11-21T21:18:56.177105Z");
        assert_eq!(
            "2026-11-21T22:18:56.177105+01:00"
                .parse::<Timestamp>()
                .expect("valid"),
            at
        );
    }

    #[test]
    fn differences_never_go_below_zero() {
        let (a, b) = (Timestamp::from_micros(1_000), Timestamp::from_micros(3_500));
        assert_eq!(b.millis_since(a), 2);
        assert_eq!(a.millis_since(b), 0);
    }
}
