//! Parses times on the command line. Pure: the caller passes the current time.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan, Zoned};
use journal::Timestamp;

/// The hint for a text that is not a time.
pub(crate) const FORMS: &str = "write a duration (2h, 1h30m, 2 hours ago), now, today, yesterday, a weekday, last week, this month, 14:30, 2026-11-20, 2026-11-20 14:30 or RFC 3339";

/// A parsed time: a moment, with `begin` equal to `end`, or a whole day, week, month or year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// The first microsecond, for "since".
    pub(crate) begin: Timestamp,
    /// The last microsecond, for "until" and "at".
    pub(crate) end: Timestamp,
}

/// Parses a time: RFC 3339; a duration before now, short (`2h`) or in words (`2 hours`), with or
/// without `ago`; `now`; a day (`today`, `yesterday`, `friday` or `last friday` for the last one
/// before today, `2026-11-20`); `this` or `last` week, month or year; a time of today (`14:30`); a
/// day with a time. Without a zone, that of `now` applies.
pub(crate) fn read(text: &str, now: &Zoned) -> Result<When, String> {
    let given = text.trim();
    // A bare number is a sequence number elsewhere, and would parse as a date here.
    let is_number = given.chars().all(|c| c.is_ascii_digit());
    let found = if is_number {
        None
    } else {
        let lower = given.to_ascii_lowercase();
        moment(given, now)
            .or_else(|| period(&lower, now))
            .or_else(|| day(&lower, now))
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
    if let Some(ago) = span(ago) {
        return at(now.checked_sub(ago).ok()?.timestamp());
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

/// Parses a duration in words, such as `2 hours`, `an hour` or `1 week 2 days`.
fn span(text: &str) -> Option<Span> {
    let lower = text.to_ascii_lowercase();
    let one = ["a ", "an "].iter().find_map(|one| lower.strip_prefix(one));
    let counted = one.map_or(lower.clone(), |rest| format!("1 {rest}"));
    let has_unit = |word: &str| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let unit = unit.trim_end_matches([',', 's']);
        UNITS.contains(&unit) || unit.is_empty()
    };
    let begins = counted.starts_with(|c: char| c.is_ascii_digit());
    (begins && counted.split_whitespace().all(has_unit))
        .then(|| counted.parse().ok())
        .flatten()
}

/// The units of durations in words.
const UNITS: [&str; 7] = ["second", "minute", "hour", "day", "week", "month", "year"];

/// Parses `this week`, `last month` and similar words: whole weeks from Monday, whole months, whole years.
fn period(text: &str, now: &Zoned) -> Option<When> {
    let (which, unit) = text.split_once(' ')?;
    let back = match which {
        "this" => 0,
        "last" => 1,
        _ => return None,
    };
    let today = now.date();
    let (first, length) = match unit.trim() {
        "week" => {
            let since_monday = i64::from(today.weekday().to_monday_zero_offset());
            (today.checked_sub(since_monday.days()).ok()?, 1.week())
        }
        "month" => (today.first_of_month(), 1.month()),
        "year" => (today.first_of_year(), 1.year()),
        _ => return None,
    };
    let first = if back == 0 {
        first
    } else {
        first.checked_sub(length).ok()?
    };
    whole(first, first.checked_add(length).ok()?, now)
}

/// Returns the time from the beginning of one day until that of another.
fn whole(first: Date, after: Date, now: &Zoned) -> Option<When> {
    let midnight = |date: Date| {
        let zoned = date.to_zoned(now.time_zone().clone()).ok()?;
        Some(zoned.timestamp().as_microsecond())
    };
    Some(When {
        begin: Timestamp::from_micros(midnight(first)?),
        end: Timestamp::from_micros(midnight(after)? - 1),
    })
}

fn day(lower: &str, now: &Zoned) -> Option<When> {
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
    let date = match lower {
        "today" => Some(now.date()),
        "yesterday" => now.date().yesterday().ok(),
        name => weekday(name.strip_prefix("last ").unwrap_or(name)).or_else(|| name.parse().ok()),
    }?;
    whole(date, date.checked_add(1.day()).ok()?, now)
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

    /// A text, and the first and the last moment that it means; no last one where they are the same.
    const ROWS: [(&str, &str, &str); 27] = [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000000Z", ""),
        (
            "2026-11-20T10:00:00+02:00",
            "2026-11-20T08:00:00.000000Z",
            "",
        ),
        ("now", "2026-10-25T11:00:00.000000Z", ""),
        ("2h", "2026-10-25T09:00:00.000000Z", ""),
        ("1h30m ago", "2026-10-25T09:30:00.000000Z", ""),
        ("2 hours ago", "2026-10-25T09:00:00.000000Z", ""),
        ("2 Hours", "2026-10-25T09:00:00.000000Z", ""),
        ("an hour ago", "2026-10-25T10:00:00.000000Z", ""),
        ("1 hour 30 minutes ago", "2026-10-25T09:30:00.000000Z", ""),
        // A day in words ends at the same hour, and the clock was set back in between.
        ("1 day ago", "2026-10-24T10:00:00.000000Z", ""),
        ("a week ago", "2026-10-18T10:00:00.000000Z", ""),
        ("2 months ago", "2026-08-25T10:00:00.000000Z", ""),
        (
            "this week",
            "2026-10-18T22:00:00.000000Z",
            "2026-10-25T22:59:59.999999Z",
        ),
        (
            "last week",
            "2026-10-11T22:00:00.000000Z",
            "2026-10-18T21:59:59.999999Z",
        ),
        (
            "last month",
            "2026-08-31T22:00:00.000000Z",
            "2026-09-30T21:59:59.999999Z",
        ),
        (
            "this year",
            "2025-12-31T23:00:00.000000Z",
            "2026-12-31T22:59:59.999999Z",
        ),
        (
            "Last Friday",
            "2026-10-22T22:00:00.000000Z",
            "2026-10-23T21:59:59.999999Z",
        ),
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

    #[test]
    fn people_may_say_when_in_many_ways() {
        let now = now();
        for (text, begin, end) in ROWS {
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
            "2 hours from now",
            "next week",
            "last",
            "last time",
            "-2 hours",
            "a while ago",
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
