//! Values with units: durations such as `1h30m` and sizes such as `64KB`.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::text::from_text;

/// Duration units, largest first, with their length in nanoseconds.
const DURATION_UNITS: [(&str, u128); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// Size units, largest first, with their length in bytes.
const SIZE_UNITS: [(&str, u64); 4] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];

/// The longest duration: ten years. Arithmetic with it cannot overflow.
const DURATION_MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

/// Reads a duration: numbers with units (`500ms`, `30s`, `180.2s`, `20m`, `2h`, `1h30m`).
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = |problem: &str| {
        format!("`{text}` {problem}; write a duration such as `500ms`, `30s`, `20m` or `1h30m`")
    };
    let mut rest = text.trim();
    let mut total: u128 = 0;
    if rest.is_empty() {
        return Err(wrong("is empty"));
    }
    while !rest.is_empty() {
        let number_end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        if number.is_empty() {
            return Err(wrong("is not a duration"));
        }
        if unit.is_empty() {
            return Err(wrong("has no unit"));
        }
        let Some((_, nanos)) = DURATION_UNITS.iter().find(|(word, _)| *word == unit) else {
            return Err(wrong(&format!("has an unknown unit `{unit}`")));
        };
        let part = scaled(number, *nanos).ok_or_else(|| wrong("is not a duration"))?;
        total = total.saturating_add(part);
        rest = tail;
    }
    if total > DURATION_MAX.as_nanos() {
        return Err(wrong("is longer than ten years"));
    }
    let nanos = u64::try_from(total).expect("ten years of nanoseconds fit into 64 bits");
    Ok(Duration::from_nanos(nanos))
}

/// Returns a decimal number times a unit, without going through floating point.
fn scaled(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u128 = whole.parse::<u64>().ok()?.into();
    // Nine digits are nanoseconds of a second, and more cannot be told apart.
    let digits = fraction.get(..fraction.len().min(9))?;
    let scale = 10_u128.pow(u32::try_from(digits.len()).ok()?);
    let part: u128 = digits.parse::<u64>().ok()?.into();
    fraction
        .chars()
        .all(|c| c.is_ascii_digit())
        .then(|| whole * unit + part * unit / scale)
}

/// Reads a size: a whole number with a unit (`64KB`, `1MB`); units are powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; write one such as `64KB` or `1MB`");
    let text = text.trim();
    let number_end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(number_end);
    let (_, bytes) = SIZE_UNITS
        .iter()
        .find(|(word, _)| unit.trim().eq_ignore_ascii_case(word))
        .ok_or_else(wrong)?;
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*bytes))
        .ok_or_else(wrong)
}

/// A duration, written as `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl Span {
    /// Returns the duration in whole milliseconds.
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).expect("parse_duration keeps durations under ten years")
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, nanos) in DURATION_UNITS {
            if rest >= nanos {
                write!(f, "{}{unit}", rest / nanos)?;
                rest %= nanos;
            }
        }
        Ok(())
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

from_text!(Span, DURATION, |text: String| {
    parse_duration(&text).map(Self)
});

/// A period of at least one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Interval(pub Span);

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let span = Span::deserialize(deserializer)?;
        if span.0 < Duration::from_secs(1) {
            return Err(D::Error::custom("expected at least 1s"));
        }
        Ok(Self(span))
    }
}

/// A number of bytes, written as `64KB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = SIZE_UNITS
            .iter()
            .find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes));
        let (unit, bytes) = whole.unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / bytes)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

from_text!(Size, SIZE, |text: String| { parse_size(&text).map(Self) });

/// What the types of this program ask for. The schemas (`schema/`) know them by these words.
pub(super) const DURATION: &str = "a duration such as `30s`";
pub(super) const DURATION_OR_FOREVER: &str = "a duration such as `30d`, or `forever`";
pub(super) const SIZE: &str = "a size such as `64KB`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let table = [
            "500ms", "30s", "180.2s", "20m", "2h", "1h30m", "0s", "1.5h", "0.0005s", " 30s ", "1d",
        ]
        .map(|text| {
            let duration = parse_duration(text).unwrap();
            format!(
                "{text} = {} ms, written {}",
                duration.as_millis(),
                Span(duration)
            )
        });
        insta::assert_snapshot!(table.join("\n"), @r"
        500ms = 500 ms, written 500ms
        30s = 30000 ms, written 30s
        180.2s = 180200 ms, written 3m200ms
        20m = 1200000 ms, written 20m
        2h = 7200000 ms, written 2h
        1h30m = 5400000 ms, written 1h30m
        0s = 0 ms, written 0s
        1.5h = 5400000 ms, written 1h30m
        0.0005s = 0 ms, written 500us
         30s  = 30000 ms, written 30s
        1d = 86400000 ms, written 1d
        ");
    }

    #[test]
    fn wrong_durations() {
        let table = [
            "",
            "30",
            "s",
            "30 s",
            "-3s",
            "3w",
            "1.2.3s",
            "ten minutes",
            "99999999999d",
            ".5s",
            "5.s",
        ]
        .map(|text| parse_duration(text).unwrap_err());
        insta::assert_snapshot!(table.join("\n"), @r"
        `` is empty; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `30` has no unit; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `s` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `30 s` has no unit; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `-3s` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `3w` has an unknown unit `w`; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `1.2.3s` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `ten minutes` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `99999999999d` is longer than ten years; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `.5s` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        `5.s` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
        ");
    }

    #[test]
    fn sizes() {
        let table = [
            "64KB",
            "1MB",
            "512 KB",
            "3B",
            "1025B",
            "64kb",
            "64",
            "KB",
            "-1KB",
            "1.5MB",
            "99999999999GB",
        ]
        .map(|text| {
            parse_size(text).map_or_else(
                |problem| problem,
                |size| format!("{text} = {size}, written {}", Size(size)),
            )
        });
        insta::assert_snapshot!(table.join("\n"), @r"
        64KB = 65536, written 64KB
        1MB = 1048576, written 1MB
        512 KB = 524288, written 512KB
        3B = 3, written 3B
        1025B = 1025, written 1025B
        64kb = 65536, written 64KB
        `64` is not a size; write one such as `64KB` or `1MB`
        `KB` is not a size; write one such as `64KB` or `1MB`
        `-1KB` is not a size; write one such as `64KB` or `1MB`
        `1.5MB` is not a size; write one such as `64KB` or `1MB`
        `99999999999GB` is not a size; write one such as `64KB` or `1MB`
        ");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(ms in 0_u64..1_000_000_000_000) {
            if let Ok(duration) = parse_duration(&format!("{ms}ms")) {
                let written = Span(duration).to_string();
                proptest::prop_assert_eq!(parse_duration(&written).unwrap(), duration);
            }
        }

        #[test]
        fn any_text_is_answered(text in ".{0,40}") {
            let _ = parse_duration(&text);
            let _ = parse_size(&text);
        }
    }
}
