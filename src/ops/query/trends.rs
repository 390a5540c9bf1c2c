//! What the last days come to: the figures behind the web page's plots.

use std::collections::BTreeMap;
use std::time::Duration;

use checkpoint::follow_up::FollowUp;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use journal::{Journal, Timestamp};
use serde_json::{Value, json};

use super::audit::{self, Followed, TurnLengths};
use super::overview;
use super::question::{Audit, Result};

/// The most days that are counted.
const DAYS_MAX: u32 = 366;
/// The newest events that hook times are taken from.
const HOOK_EVENTS: u64 = 20_000;
/// Upper bounds of the classes of turn lengths, in milliseconds; longer ones are a class of their own.
const TURN_BOUNDS_MS: [u64; 10] = [
    5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000, 3_600_000, 7_200_000,
];
/// Upper bounds of the classes of hook times, in microseconds; longer ones are a class of their own.
const HOOK_BOUNDS_US: [u64; 9] = [
    1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000,
];

/// Returns `{"days", "decisions", "demands", "turns", "hooks"}` of the last days, in the time zone of this machine:
///
/// - `decisions`: `{"day","project","verdict","reason","count"}`, `day` being a place in `days`;
/// - `demands`: `{"day","demands","met"}` by the day of the demand, as `audit --summary` counts them;
/// - `turns` and `hooks`: `{"bounds","counts"}`, one more count than bounds, and medians.
pub(super) fn trends(journal: &Journal, days: u32, now: Timestamp) -> Result<Value> {
    let zone = TimeZone::system();
    let date = |at: Timestamp| {
        jiff::Timestamp::from_microsecond(at.as_micros()).map(|at| at.to_zoned(zone.clone()).date())
    };
    let today = date(now).unwrap_or_default();
    let first = today.saturating_sub(i64::from(days.clamp(1, DAYS_MAX) - 1).days());
    let began = first
        .to_zoned(zone.clone())
        .map(|began| began.timestamp().as_microsecond());
    let filter = Audit {
        since: began.ok().map(Timestamp::from_micros),
        ..Audit::default()
    };
    let dates: Vec<Date> = first
        .series(1.day())
        .take_while(|day| *day <= today)
        .collect();

    let mut followed = Followed::new(journal)?;
    let mut turns = TurnLengths::default();
    let (mut decisions, mut demands) = (
        BTreeMap::<_, u64>::new(),
        BTreeMap::<usize, (u64, u64)>::new(),
    );
    audit::walk(journal, &filter, |envelope, decision, _, project| {
        let Some(day) = date(envelope.at)
            .ok()
            .and_then(|date| dates.iter().position(|day| *day == date))
        else {
            return Ok(());
        };
        let verdict = decision.verdict.to_string();
        *decisions
            .entry((day, project.to_owned(), verdict, decision.reason.word()))
            .or_default() += 1;
        turns.add(envelope, decision);
        match followed.end(envelope)? {
            Some(FollowUp::Fulfilled) => {
                let day = demands.entry(day).or_default();
                *day = (day.0 + 1, day.1 + 1);
            }
            Some(FollowUp::Unfulfilled(_)) => demands.entry(day).or_default().0 += 1,
            _ => {}
        }
        Ok(())
    })?;
    let hooks = overview::hook_times(journal, HOOK_EVENTS)?;
    let times: Vec<_> = hooks.times.iter().map(|time| micros(*time)).collect();
    Ok(json!({
        "days": dates.iter().map(Date::to_string).collect::<Vec<_>>(),
        "decisions": decisions
            .into_iter()
            .map(|((day, project, verdict, reason), count)| {
                json!({ "day": day, "project": project, "verdict": verdict, "reason": reason, "count": count })
            })
            .collect::<Vec<_>>(),
        "demands": demands
            .into_iter()
            .map(|(day, (demands, met))| json!({ "day": day, "demands": demands, "met": met }))
            .collect::<Vec<_>>(),
        "turns": {
            "bounds_ms": TURN_BOUNDS_MS,
            "counts": classes(&turns.lengths_ms(), &TURN_BOUNDS_MS),
            "median_ms": turns.median_ms(),
        },
        "hooks": {
            "bounds_us": HOOK_BOUNDS_US,
            "counts": classes(&times, &HOOK_BOUNDS_US),
            "p50_us": hooks.quantile_us(50),
            "p99_us": hooks.quantile_us(99),
            "later": hooks.later,
        },
    }))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Counts figures by the first bound that they do not exceed.
fn classes(figures: &[u64], bounds: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; bounds.len() + 1];
    for figure in figures {
        counts[bounds.partition_point(|bound| bound < figure)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_belongs_to_the_first_bound_that_it_does_not_exceed() {
        assert_eq!(classes(&[0, 5, 6, 10, 11, 99], &[5, 10]), [2, 2, 2]);
        assert_eq!(classes(&[], &[5]), [0, 0]);
    }
}
