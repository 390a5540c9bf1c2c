//! Counters, gauges and histograms for monitoring: one list of figures, exposed as OpenMetrics by
//! `GET /metrics` on the daemon's socket, and exported by OTLP. They contain no text of an agent or
//! person.
//!
//! Counters and histograms start with the daemon, as is usual; gauges are read on demand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actors::{Shared, session_state, spool};
use journal::{Envelope, Event, Timestamp};
use parking_lot::Mutex;
use prometheus_client::registry::Unit;

use crate::daemon::fleet::State;
use crate::ops::query::{self, HookTime};
use crate::ops::views::FleetLine;

/// Upper bounds of both histograms' buckets, in seconds.
pub(crate) const BOUNDS_S: [f64; 11] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
];
/// The most stops that wait for their decision; further ones are not timed.
const STOPS_MAX: usize = 1_024;
/// A session silent for longer than this counts as not running.
const RUNNING_WITHIN: Duration = Duration::from_secs(24 * 3_600);

/// A name and a word of ours: labels contain no text of an agent or person.
pub(crate) type Label = (&'static str, &'static str);

/// One figure, for every export format.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The name, without the product's prefix and the unit.
    pub(crate) name: &'static str,
    /// The help text.
    pub(crate) what: String,
    /// The unit; `None` for a count.
    pub(crate) unit: Option<Unit>,
    pub(crate) value: Value,
}

impl Figure {
    fn new(name: &'static str, what: &str, value: Value) -> Self {
        Self {
            name,
            what: what.to_owned(),
            unit: None,
            value,
        }
    }

    fn level(name: &'static str, what: &str, level: u64) -> Self {
        Self::new(name, what, Value::Level(level))
    }

    fn bytes(name: &'static str, what: &str, bytes: u64) -> Self {
        Self {
            unit: Some(Unit::Bytes),
            ..Self::level(name, what, bytes)
        }
    }

    /// A figure that begins at zero as the daemon starts.
    fn since_start(name: &'static str, what: &str, value: Value) -> Self {
        Self {
            unit: matches!(value, Value::Times(_)).then_some(Unit::Seconds),
            ..Self::new(name, &format!("{what}, since the daemon started"), value)
        }
    }
}

#[derive(Debug)]
pub(crate) enum Value {
    /// Counters, one for each set of labels.
    Counts(Vec<(Vec<Label>, u64)>),
    Level(u64),
    Times(Times),
}

/// A histogram of durations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// The number in the bucket of each of [`BOUNDS_S`], and above all of them.
    pub(crate) classes: [u64; BOUNDS_S.len() + 1],
    pub(crate) sum_s: f64,
}

impl Times {
    fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.classes[BOUNDS_S.partition_point(|bound| *bound < seconds)] += 1;
        self.sum_s += seconds;
    }

    pub(crate) fn count(&self) -> u64 {
        self.classes.iter().sum()
    }
}

/// Counters and histograms since the daemon's start.
pub(crate) struct Metrics {
    pub(crate) began: Timestamp,
    counted: Mutex<Counted>,
    fleet: Arc<State>,
}

#[derive(Default)]
struct Counted {
    events: BTreeMap<[Label; 2], u64>,
    decisions: BTreeMap<[Label; 3], u64>,
    deliveries: BTreeMap<[Label; 2], u64>,
    hooks: Times,
    hooks_later: u64,
    deciding: Times,
    /// The time at which each undecided stop was journaled.
    stops: BTreeMap<u64, Timestamp>,
}

impl Metrics {
    /// Starts counting.
    pub(crate) fn new(fleet: Arc<State>) -> Self {
        Self {
            began: Timestamp::now(),
            counted: Mutex::default(),
            fleet,
        }
    }

    /// Counts appended events. Waits only for another scrape.
    pub(crate) fn count(&self, events: &[Envelope]) {
        let mut counted = self.counted.lock();
        events.iter().for_each(|envelope| counted.add(envelope));
    }

    /// Returns all figures in order. Reads the journal and folders.
    pub(crate) fn figures(&self, shared: &Shared) -> journal::Result<Vec<Figure>> {
        shared.journal.settle()?;
        let mut figures = self.counted.lock().figures();
        figures.extend(counters(shared));
        figures.extend(levels(shared)?);
        figures.extend(self.fleet.line().iter().flat_map(of_fleet));
        Ok(figures)
    }
}

impl Counted {
    fn add(&mut self, envelope: &Envelope) {
        let agent = envelope.stream.agent.label();
        *self
            .events
            .entry([("kind", envelope.event.kind()), ("agent", agent)])
            .or_default() += 1;
        match query::hook_time(envelope) {
            Some(HookTime::Answered(time)) => self.hooks.add(time),
            Some(HookTime::Later) => self.hooks_later += 1,
            None => {}
        }
        match &envelope.event {
            Event::AgentStopped { .. } => {
                self.stops.insert(envelope.seq, envelope.recorded_at);
                if self.stops.len() > STOPS_MAX {
                    self.stops.pop_first();
                }
            }
            Event::Decided(decision) => {
                let labels = [
                    ("agent", agent),
                    ("verdict", decision.verdict.word()),
                    ("reason", decision.reason.word()),
                ];
                *self.decisions.entry(labels).or_default() += 1;
                if let Some(stopped) = self.stops.remove(&decision.trigger) {
                    self.deciding.add(envelope.recorded_at.since(stopped));
                }
            }
            event => {
                if let Some(outcome) = outcome(event) {
                    *self
                        .deliveries
                        .entry([("agent", agent), ("outcome", outcome)])
                        .or_default() += 1;
                }
            }
        }
    }

    fn figures(&self) -> Vec<Figure> {
        let all = [
            (
                "events",
                "Events journaled, by kind and agent",
                family(&self.events),
            ),
            (
                "decisions",
                "Decisions about stops, by agent, verdict and reason",
                family(&self.decisions),
            ),
            (
                "deliveries",
                "Deliveries of checkpoints that have ended, by agent and outcome",
                family(&self.deliveries),
            ),
            (
                "hook",
                "From a hook's start, by its own clock, until its call was journaled; without those by the spool",
                Value::Times(self.hooks.clone()),
            ),
            (
                "hooks_later",
                "Hook calls that came through the spool",
                single(self.hooks_later),
            ),
            (
                "decision",
                "From a stop's entry in the journal to its decision's",
                Value::Times(self.deciding.clone()),
            ),
        ];
        all.map(|(name, what, value)| Figure::since_start(name, what, value))
            .into()
    }
}

/// Returns a delivery's outcome; `None` for an event that ends no delivery.
pub(crate) const fn outcome(event: &Event) -> Option<&'static str> {
    match event {
        Event::DeliveryConfirmed { .. } => Some("confirmed"),
        Event::DeliveryFailed { .. } => Some("failed"),
        Event::DeliveryExpired { .. } => Some("expired"),
        _ => None,
    }
}

fn family<const N: usize>(counts: &BTreeMap<[Label; N], u64>) -> Value {
    Value::Counts(
        counts
            .iter()
            .map(|(labels, count)| (labels.to_vec(), *count))
            .collect(),
    )
}

fn single(count: u64) -> Value {
    Value::Counts(vec![(Vec::new(), count)])
}

/// Returns the actors' counters.
fn counters(shared: &Shared) -> impl Iterator<Item = Figure> {
    let counters = &shared.counters;
    let all = [
        (
            "payloads_rejected",
            "Payloads of hooks that could not be read",
            &counters.rejected,
        ),
        (
            "calls_refused",
            "Hook calls refused with the order to spool",
            &counters.overloaded,
        ),
        (
            "calls_unspooled",
            "Hook calls taken from the spool",
            &counters.unspooled,
        ),
        (
            "calls_duplicate",
            "Hook calls that were in the journal already",
            &counters.duplicates,
        ),
        (
            "actors_restarted",
            "Session actors that died and were started again",
            &counters.restarted,
        ),
    ];
    all.into_iter().map(|(name, what, value)| {
        Figure::since_start(name, what, single(value.load(Ordering::Relaxed)))
    })
}

/// Returns the gauges.
fn levels(shared: &Shared) -> journal::Result<Vec<Figure>> {
    let entries = shared.journal.sessions();
    let now = Timestamp::now();
    let mut sessions = 0_u64;
    let mut running = 0_u64;
    for entry in entries.iter().filter(|entry| entry.stream.agent.is_agent()) {
        sessions += 1;
        if now.since(entry.last_at) < RUNNING_WITHIN {
            running += u64::from(session_state::load(&shared.journal, &entry.stream)?.running);
        }
    }
    let (store, intake) = shared.journal.disk_bytes();
    let spooled = spool::list(&shared.home.spool).map_or(0, |files| files.len() as u64);
    let mut all = vec![
        Figure::level("sessions", "Sessions in the journal", sessions),
        Figure::level(
            "turns_running",
            "Running turns of sessions with events in the last day",
            running,
        ),
        Figure::level("spool_files", "Hook calls in the spool", spooled),
        Figure::bytes("journal_store", "The journal's store on disk", store),
        Figure::bytes("journal_intake", "The journal's intake log on disk", intake),
    ];
    all.extend(
        resident_bytes()
            .map(|resident| Figure::bytes("memory_resident", "Memory of the daemon", resident)),
    );
    Ok(all)
}

/// The gauges of a machine or a collector in a fleet.
fn of_fleet(line: &FleetLine) -> Vec<Figure> {
    let gauge = Figure::level;
    let is_stuck = u64::from(line.trouble.is_some());
    let stuck = gauge(
        "fleet_stuck",
        "1 while the fleet's broker cannot be used",
        is_stuck,
    );
    match &line.collects {
        None => vec![
            gauge(
                "fleet_backlog",
                "Events that the fleet's broker does not have yet",
                line.backlog,
            ),
            stuck,
        ],
        Some(collects) => [
            gauge(
                "fleet_journals",
                "Journals from which the collector has events",
                collects.journals,
            ),
            gauge(
                "fleet_behind",
                "Messages that the collector has not received yet",
                collects.behind,
            ),
            gauge(
                "fleet_parked",
                "Journals from which nothing is accepted",
                collects.parked.len() as u64,
            ),
            stuck,
        ]
        .into(),
    }
}

/// Returns this process's resident memory, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    kilobytes
        .trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes * 1_024)
}
