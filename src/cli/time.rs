//! Parses times on the command line. Pure: the caller passes the current time.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{ToSpan, Zoned};
use journal::Timestamp;

/// The hint for a text that is not a time.
pub(crate) const FORMS: &str = "write a duration (2h, 1h30m), now, today, yesterday, a weekday, 14:30, 2026-11-20, 2026-11-20 14:30 or RFC 3339";

/// A parsed time: a moment, with `begin` equal to `end`, or a whole day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// The first microsecond, for "since".
    pub(crate) begin: Timestamp,
    /// The last microsecond, for "until" and "at".
    pub(crate) end: Timestamp,
}

/// Parses a time: RFC 3339; a duration before now, with or without `ago`; `now`; a day (`today`,
/// `yesterday`, `friday` for the last one before today, `2026-11-20`); a time of today (`14:30`); a
/// day with a time. Without a zone, that of `now` applies.
pub(crate) fn read(text: &str, now: &Zoned) -> Result<When, String> {
    let given = text.trim();
    // A bare number is a sequence number elsewhere, and would parse as a date here.
    let is_number = given.chars().all(|c| c.is_ascii_digit());
    let found = if is_number {
        None
    } else {
        moment(given, now).or_else(|| day(given, now))
    };
    found.ok_or_else(|| format!("`{text}` is not a time: {FORMS}"))
}

/// Parses a time with this machine's clock and zone.
pub(crate) fn read_now(text: &str) -> Result<When, String> {
    read(text, &Zoned::now())
}

fn moment(text: &str, now: &Zoned) -> Option<When> {
    let at = |at: jiff::Timestamp| {
        let at = Timestamp::from_micros(at.as_microsecond());
        Some(When { begin: at, end: at })
    };
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return at(timestamp);
    }
    if text.eq_ignore_ascii_case("now") {
        return at(now.timestamp());
    }
    let ago = text.strip_suffix("ago").map_or(text, str::trim_end);
    if let Ok(ago) = checkpoint::config::parse_duration(ago) {
        return at(now.timestamp().checked_sub(ago).ok()?);
    }
    // `DateTime` parses a date as its midnight; here a date is a whole day.
    let civil = match text.parse::<Time>() {
        Ok(time) if text.contains(':') && text.parse::<Date>().is_err() => {
            Some(now.date().to_datetime(time))
        }
        _ => text.parse::<DateTime>().ok().filter(|_| text.contains(':')),
    };
    at(civil?.to_zoned(now.time_zone().clone()).ok()?.timestamp())
}

fn day(text: &str, now: &Zoned) -> Option<When> {
    let weekday = |name: &str| {
        let days = [
            ("monday", Weekday::Monday),
            ("tuesday", Weekday::Tuesday),
            ("wednesday", Weekday::Wednesday),
            ("thursday", Weekday::Thursday),
            ("friday", Weekday::Friday),
            ("saturday", Weekday::Saturday),
            ("sunday", Weekday::Sunday),
        ];
        let known = days
            .into_iter()
            .find(|(known, _)| *known == name || (name.len() == 3 && known.starts_with(name)));
        now.date().nth_weekday(-1, known?.1).ok()
    };
    let lower = text.to_ascii_lowercase();
    let date = match lower.as_str() {
        "today" => Some(now.date()),
        "yesterday" => now.date().yesterday().ok(),
        name => weekday(name).or_else(|| text.parse().ok()),
    }?;
    let midnight = |date: Date| {
        let zoned = date.to_zoned(now.time_zone().clone()).ok()?;
        Some(zoned.timestamp().as_microsecond())
    };
    let end = midnight(date.checked_add(1.day()).ok()?)? - 1;
    Some(When {
        begin: Timestamp::from_micros(midnight(date)?),
        end: Timestamp::from_micros(end),
    })
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    /// Noon of the Sunday on which summer time ends, in a zone that is described and not looked up.
    fn now() -> Zoned {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        jiff::civil::date(2026, 10, 25)
            .at(12, 0, 0, 0)
            .to_zoned(berlin)
            .expect("a time")
    }

    #[test]
    fn people_may_say_when_in_many_ways() {
        let now = now();
        let rows = [
            ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000000Z", ""),
            (
                "2026-11-20T10:00:00+02:00",
                "2026-11-20T08:00:00.000000Z",
                "",
            ),
            ("now", "2026-10-25T11:00:00.000000Z", ""),
            ("2h", "2026-10-25T09:00:00.000000Z", ""),
            ("1h30m ago", "2026-10-25T09:30:00.000000Z", ""),
            (" 90s ", "2026-10-25T10:58:30.000000Z", ""),
            ("1d", "2026-10-24T11:00:00.000000Z", ""),
            ("09:30", "2026-10-25T08:30:00.000000Z", ""),
            ("2026-10-20 09:30", "2026-10-20T07:30:00.000000Z", ""),
            ("2026-10-20T09:30:15", "2026-10-20T07:30:15.000000Z", ""),
            (
                "2026-10-20",
                "2026-10-19T22:00:00.000000Z",
                "2026-10-20T21:59:59.999999Z",
            ),
            // This day has 25 hours.
            (
                "today",
                "2026-10-24T22:00:00.000000Z",
                "2026-10-25T22:59:59.999999Z",
            ),
            (
                "Yesterday",
                "2026-10-23T22:00:00.000000Z",
                "2026-10-24T21:59:59.999999Z",
            ),
            (
                "friday",
                "2026-10-22T22:00:00.000000Z",
                "2026-10-23T21:59:59.999999Z",
            ),
            (
                "sun",
                "2026-10-17T22:00:00.000000Z",
                "2026-10-18T21:59:59.999999Z",
            ),
        ];
        for (text, begin, end) in rows {
            let found = read(text, &now).unwrap_or_else(|error| panic!("{error}"));
            let end = if end.is_empty() { begin } else { end };
            assert_eq!(
                (
                    found.begin.to_string().as_str(),
                    found.end.to_string().as_str()
                ),
                (begin, end),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_the_forms_that_are() {
        let now = now();
        for text in [
            "",
            "20261120",
            "17",
            "tomorrow",
            "2 hours",
            "25:00",
            "2026-13-01",
            "-2h",
            "su",
            "s",
        ] {
            let error = read(text, &now).expect_err(text);
            assert!(error.contains(FORMS), "{error}");
        }
    }
}
