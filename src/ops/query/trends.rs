//! Counts of the last days: the figures behind the web page's plots.

use std::collections::BTreeMap;
use std::time::Duration;

use checkpoint::follow_up::FollowUp;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use journal::{Journal, Timestamp};
use serde_json::{Value, json};

use super::audit::{self, Followed, TurnLengths};
use super::benefit;
use super::filter::PastSessions;
use super::marks::ByRule;
use super::overview;
use super::question::{Audit, Result};
use super::sessions::{self, of_agents};
use crate::ops::views::Benefit;

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

/// The periods that a person can choose.
const SPANS: [u32; 4] = [7, 30, 90, DAYS_MAX];

/// Returns the figures of the last days, in the time zone of this machine. With 0, of the shortest span that has all that
/// is known. A `day` is an index into `days`, and demands are those whose end is known.
pub(super) fn trends(
    journal: &Journal,
    days: u32,
    machine: Option<&str>,
    now: Timestamp,
) -> Result<Value> {
    let days = match days {
        0 => Days::until(now, fitting(journal, now)),
        days => Days::until(now, days),
    };
    let filter = filter(&days, machine);
    let mut followed = Followed::new(journal)?;
    let mut turns = TurnLengths::default();
    let mut decisions = Decisions::new();
    let mut demands = BTreeMap::<usize, [u64; 2]>::new();
    let mut rules = ByRule::default();
    let mut projects = BTreeMap::<String, Demands>::new();
    let mut machines = BTreeMap::<String, Demands>::new();
    let mut benefit = Benefit::default();
    let mut past = PastSessions::default();
    audit::walk(journal, &filter, |envelope, decision, outcome, project| {
        let Some(day) = days.index_of(envelope.at) else {
            return Ok(());
        };
        let of = followed.of(envelope)?;
        if of.let_leave(decision) {
            return Ok(());
        }
        let machine = envelope.origin.as_deref();
        let machine = machine.map(|origin| origin.machine.as_str());
        let project = project.name(machine);
        let verdict = decision.verdict.word();
        *decisions
            .entry((day, project.clone(), verdict, decision.reason.word()))
            .or_default() += 1;
        turns.add(envelope, decision);
        if !past.has(journal, envelope)? {
            benefit::add(&mut benefit, envelope, decision, outcome, of);
        }
        let (end, marks) = (of.end(envelope.seq), &of.marks);
        rules.add(envelope.seq, decision, end, marks);
        // Of a demand whose end is known, how long it took to meet it, if it was met.
        let known = match end {
            Some(FollowUp::Fulfilled) => Some(Some(of.followed[&envelope.seq].ms)),
            Some(FollowUp::Unfulfilled(_)) => Some(None),
            _ => None,
        };
        if let Some(met) = known {
            let [all, done] = demands.entry(day).or_default();
            *all += 1;
            *done += u64::from(met.is_some());
            let is_wrong = marks.any(envelope.seq);
            projects.entry(project).or_default().add(met, is_wrong);
            if let Some(machine) = machine {
                let count = machines.entry(machine.to_owned()).or_default();
                count.add(met, is_wrong);
            }
        }
        Ok(())
    })?;
    let done_ms = projects.values().flat_map(|it| it.done_ms.clone());
    let done_ms = middle(done_ms.collect());
    let decisions = decisions.into_iter();
    let decisions = decisions.map(|((day, project, verdict, reason), count)| {
        json!({ "day": day, "project": project, "verdict": verdict, "reason": reason, "count": count })
    });
    let demands = demands.into_iter();
    let demands =
        demands.map(|(day, [demands, met])| json!({ "day": day, "demands": demands, "met": met }));
    Ok(json!({
        "days": Vec::from_iter(days.dates.iter().map(Date::to_string)),
        "decisions": Vec::from_iter(decisions),
        "demands": Vec::from_iter(demands),
        "rules": rules.totals(),
        // What was demanded most comes first.
        "projects": demands_by(projects),
        // Only in a collector's journal.
        "machines": demands_by(machines),
        "known_machines": sessions::machines(journal)?,
        "done_ms": done_ms,
        "benefit": benefit,
        // One more count than bounds.
        "turns": {
            "bounds_ms": TURN_BOUNDS_MS,
            "counts": classes(&turns.lengths_ms(), &TURN_BOUNDS_MS),
            "median_ms": turns.median_ms(),
        },
        "hooks": hook_classes(journal, machine)?,
    }))
}

fn filter(days: &Days, machine: Option<&str>) -> Audit {
    Audit {
        since: days.began(),
        machine: machine.map(str::to_owned),
        ..Audit::default()
    }
}

fn fitting(journal: &Journal, now: Timestamp) -> u32 {
    let first = of_agents(journal).iter().map(|entry| entry.first_at).min();
    let old = first.map_or(0, |first| now.millis_since(first) / 86_400_000);
    let fits = SPANS.into_iter().find(|span| old < u64::from(*span));
    fits.unwrap_or(DAYS_MAX)
}

/// Decisions by day, project, verdict and reason.
type Decisions = BTreeMap<(usize, String, &'static str, &'static str), u64>;

/// Counts of the demands of a project or machine.
#[derive(Default)]
struct Demands {
    demands: u64,
    wrong: u64,
    /// For each met demand, the time until it was met.
    done_ms: Vec<u64>,
}

impl Demands {
    /// Adds a demand, with the time until it was met if it was.
    fn add(&mut self, met: Option<u64>, is_wrong: bool) {
        self.demands += 1;
        self.wrong += u64::from(is_wrong);
        self.done_ms.extend(met);
    }
}

fn demands_by(counts: BTreeMap<String, Demands>) -> Vec<Value> {
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(_, it)| std::cmp::Reverse(it.demands));
    let rows = rows.into_iter().map(|(name, it)| {
        json!({
            "name": name,
            "demands": it.demands,
            "met": it.done_ms.len(),
            "wrong": it.wrong,
            "done_ms": middle(it.done_ms),
        })
    });
    rows.collect()
}

fn middle(mut all: Vec<u64>) -> Option<u64> {
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

fn hook_classes(journal: &Journal, machine: Option<&str>) -> Result<Value> {
    let hooks = overview::hook_times(journal, HOOK_EVENTS, machine)?;
    let times = hooks.times.iter().map(|time| micros(*time));
    Ok(json!({
        "bounds_us": HOOK_BOUNDS_US,
        "counts": classes(&Vec::from_iter(times), &HOOK_BOUNDS_US),
        "p50_us": hooks.quantile_us(50),
        "p99_us": hooks.quantile_us(99),
        "later": hooks.later,
    }))
}

/// The days that are counted, in the time zone of this machine.
struct Days {
    zone: TimeZone,
    dates: Vec<Date>,
}

impl Days {
    fn until(now: Timestamp, days: u32) -> Self {
        let zone = TimeZone::system();
        let today = date(now, &zone);
        let first = today.saturating_sub(i64::from(days.clamp(1, DAYS_MAX) - 1).days());
        let dates = first.series(1.day()).take_while(|day| *day <= today);
        let dates = dates.collect();
        Self { zone, dates }
    }

    fn began(&self) -> Option<Timestamp> {
        let began = self.dates.first()?.to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp::from_micros(began.timestamp().as_microsecond()))
    }

    fn index_of(&self, at: Timestamp) -> Option<usize> {
        let date = date(at, &self.zone);
        self.dates.iter().position(|day| *day == date)
    }
}

fn date(at: Timestamp, zone: &TimeZone) -> Date {
    at.to_jiff().to_zoned(zone.clone()).date()
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
