//! `GET /metrics` on the daemon's socket: counts, sizes and times for a monitoring system, in the text format of
//! OpenMetrics, which Prometheus reads. Nothing that an agent or a person wrote is in them.
//!
//! Counters and histograms begin with the daemon, as those systems expect; gauges are read when they are asked for.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::{Shared, context, spool};
use journal::{Agent, Envelope, Event, Timestamp};
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::api::{Api, refuse};
use crate::query::{self, HookTime};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper bounds of the classes of both histograms, in seconds.
const BOUNDS_S: [f64; 11] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// Stops that wait for their decision; more are not timed.
const STOPS_MAX: usize = 1_024;
/// A session that nobody has heard of for so long is not looked at: its turn does not run any more.
const RUNNING_WITHIN: std::time::Duration = std::time::Duration::from_secs(24 * 3_600);

/// Labels, each with a word of our own.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// What has been counted since the daemon came up.
pub(crate) struct Metrics {
    events: Family<Labels<2>, Counter>,
    decisions: Family<Labels<3>, Counter>,
    deliveries: Family<Labels<2>, Counter>,
    hooks: Histogram,
    hooks_later: Counter,
    deciding: Histogram,
    /// When each stop was journaled that is not decided about yet.
    stops: Mutex<BTreeMap<u64, Timestamp>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            events: Family::default(),
            decisions: Family::default(),
            deliveries: Family::default(),
            hooks: Histogram::new(BOUNDS_S),
            hooks_later: Counter::default(),
            deciding: Histogram::new(BOUNDS_S),
            stops: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Counts what was appended. Never waits for anything but another scrape.
    pub(crate) fn count(&self, events: &[Envelope]) {
        for envelope in events {
            let agent = envelope.stream.agent.word();
            self.events.get_or_create(&[("kind", envelope.event.kind()), ("agent", agent)]).inc();
            match query::hook_time(envelope) {
                Some(HookTime::Answered(time)) => self.hooks.observe(time.as_secs_f64()),
                Some(HookTime::Later) => drop(self.hooks_later.inc()),
                None => {}
            }
            self.count_kind(envelope, agent);
        }
    }

    fn count_kind(&self, envelope: &Envelope, agent: &'static str) {
        let outcome = match &envelope.event {
            Event::AgentStopped { .. } => {
                let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
                stops.insert(envelope.seq, envelope.recorded_at);
                if stops.len() > STOPS_MAX {
                    stops.pop_first();
                }
                return;
            }
            Event::Decided(decision) => {
                let verdict = if decision.verdict == journal::Verdict::Inject { "inject" } else { "pass" };
                let labels = [("agent", agent), ("verdict", verdict), ("reason", decision.reason.word())];
                self.decisions.get_or_create(&labels).inc();
                let stop = self.stops.lock().unwrap_or_else(PoisonError::into_inner).remove(&decision.trigger);
                if let Some(stopped) = stop {
                    self.deciding.observe(envelope.recorded_at.since(stopped).as_secs_f64());
                }
                return;
            }
            Event::DeliveryConfirmed { .. } => "confirmed",
            Event::DeliveryFailed { .. } => "failed",
            Event::DeliveryExpired { .. } => "expired",
            _ => return,
        };
        self.deliveries.get_or_create(&[("agent", agent), ("outcome", outcome)]).inc();
    }

    fn register(&self, registry: &mut Registry) {
        let since = |what: &str| format!("{what}, since the daemon started");
        registry.register("events", since("Events journaled, by kind and agent"), self.events.clone());
        let what = since("Stops decided about, by agent, verdict and reason");
        registry.register("decisions", what, self.decisions.clone());
        let what = since("Deliveries of checkpoints that have ended, by agent and outcome");
        registry.register("deliveries", what, self.deliveries.clone());
        let what =
            since("From a hook's start, by its own clock, until its call was journaled; without those by the spool");
        registry.register_with_unit("hook", what, Unit::Seconds, self.hooks.clone());
        registry.register("hooks_later", since("Hook calls that came by the spool"), self.hooks_later.clone());
        let what = since("From a stop's entry in the journal to its decision's");
        registry.register_with_unit("decision", what, Unit::Seconds, self.deciding.clone());
    }
}

/// Sets up the route.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config.route("/metrics", web::get().to(metrics));
}

async fn metrics(api: web::Data<Api>, metrics: web::Data<Metrics>) -> HttpResponse {
    if !api.shared.config().settings.metrics.enabled {
        return refuse(StatusCode::NOT_FOUND, "`metrics: {enabled: true}` in config.yml switches this on");
    }
    let shared = Arc::clone(&api.shared);
    // Gauges read the journal and folders.
    let written = web::block(move || -> Result<String, String> {
        let mut registry = Registry::with_prefix("checkpointd");
        shared.journal.settle().map_err(|error| error.to_string())?;
        metrics.register(&mut registry);
        read_counters(&shared, &mut registry);
        read_gauges(&shared, &mut registry).map_err(|error| error.to_string())?;
        let mut written = String::new();
        text::encode(&mut written, &registry).map_err(|error| error.to_string())?;
        Ok(written)
    });
    match written.await {
        Ok(Ok(text)) => HttpResponse::Ok().content_type(CONTENT_TYPE).body(text),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

fn read_counters(shared: &Shared, registry: &mut Registry) {
    let counters = &shared.counters;
    let all = [
        ("payloads_rejected", "Payloads of hooks that could not be read", &counters.rejected),
        ("calls_refused", "Hook calls that were told to spool", &counters.overloaded),
        ("calls_unspooled", "Hook calls taken from the spool", &counters.unspooled),
        ("calls_duplicate", "Hook calls that were in the journal already", &counters.duplicates),
        ("actors_restarted", "Session actors that died and were started again", &counters.restarted),
    ];
    for (name, what, value) in all {
        let counter: Counter = Counter::default();
        counter.inc_by(value.load(Ordering::Relaxed));
        registry.register(name, format!("{what}, since the daemon started"), counter);
    }
}

fn read_gauges(shared: &Shared, registry: &mut Registry) -> journal::Result<()> {
    let entries = shared.journal.sessions();
    let now = Timestamp::now();
    let (mut sessions, mut running) = (0_u64, 0_u64);
    for entry in entries.iter().filter(|entry| entry.stream.agent != Agent::Daemon) {
        sessions += 1;
        if now.since(entry.last_at) < RUNNING_WITHIN {
            running += u64::from(context::load(&shared.journal, &entry.stream)?.running);
        }
    }
    let (store, intake) = shared.journal.disk_bytes();
    let spooled = spool::list(&shared.home.spool).map_or(0, |files| files.len() as u64);
    let mut gauge = |name: &str, what: &str, unit: Option<Unit>, value: u64| {
        let gauge: Gauge = Gauge::default();
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        match unit {
            Some(unit) => registry.register_with_unit(name, what, unit, gauge),
            None => registry.register(name, what, gauge),
        }
    };
    gauge("sessions", "Sessions in the journal", None, sessions);
    gauge("turns_running", "Turns that run, of sessions heard of within a day", None, running);
    gauge("spool_files", "Hook calls in the spool", None, spooled);
    gauge("journal_store", "The journal's store on disk", Some(Unit::Bytes), store);
    gauge("journal_intake", "The journal's intake log on disk", Some(Unit::Bytes), intake);
    if let Some(bytes) = resident_bytes() {
        gauge("memory_resident", "Memory that the daemon has", Some(Unit::Bytes), bytes);
    }
    Ok(())
}

/// Returns the memory that this process has; none on a system that does not tell.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
