//! Exports decisions and figures to an OpenTelemetry collector: OTLP/HTTP in JSON, off unless
//! `otlp.endpoint` is set.
//!
//! The exporter follows the journal and sends from a thread of its own, so no hook and no decision
//! waits for a collector. The queue for an unreachable collector is bounded (`traces.rs`); figures
//! are cumulative and need no queue. OpenTelemetry's SDK is not used: it keeps its own counters and
//! reads settings from the environment.

use std::sync::Arc;
use std::time::Duration;

use actors::Shared;
use checkpoint::config::{self, Endpoint};
use journal::Envelope;
use journal::reply::Head;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time;
use uuid::Uuid;

use crate::daemon::telemetry::figures::Metrics;
use crate::daemon::worker::Worker;

mod messages;
mod traces;

use traces::Traces;

/// The longest time for one request.
const SEND_WITHIN: Duration = Duration::from_secs(5);
/// The longest wait for the last export when the daemon stops.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
/// With these status codes the collector asks for a retry (OTLP, "Retryable Response Codes").
const LATER: [u16; 4] = [429, 502, 503, 504];

/// Sends journaled events to a collector.
pub(crate) struct Otlp {
    shared: Arc<Shared>,
    metrics: Arc<Metrics>,
    traces: Mutex<Traces>,
    trouble: Mutex<Option<String>>,
    /// Identifies one run of the daemon.
    instance: Uuid,
    changed: Notify,
    worker: Arc<Worker>,
}

impl Otlp {
    /// Creates an idle exporter.
    pub(crate) fn new(shared: Arc<Shared>, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            metrics,
            traces: Mutex::default(),
            trouble: Mutex::default(),
            instance: Uuid::new_v4(),
            changed: Notify::new(),
            worker: Arc::default(),
        })
    }

    /// Processes appended events. Waits only for another call of this function.
    pub(crate) fn tell(&self, events: &[Envelope]) {
        if self.shared.config().settings.otlp.endpoint.0.is_some() {
            let mut traces = self.traces.lock();
            events.iter().for_each(|envelope| traces.note(envelope));
        }
    }

    /// Applies changed settings.
    pub(crate) fn settings_changed(&self) {
        self.changed.notify_one();
    }

    /// Returns why exports fail; `None` while they work.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }

    /// Starts to send, on a thread of its own. If the system refuses the thread, only the export is
    /// lost.
    pub(crate) fn start(self: &Arc<Self>) {
        let own = Arc::clone(self);
        let work = move || async move { own.run().await };
        if let Err(error) = self.worker.start("otlp", work) {
            self.set_trouble(Some(error.to_string()));
        }
    }

    /// Sends what is left, waiting at most [`CLOSE_WITHIN`].
    pub(crate) async fn close(&self) {
        self.worker.close(CLOSE_WITHIN).await;
    }

    async fn run(&self) {
        loop {
            let settings = self.settings();
            if let Some(endpoint) = &settings.endpoint.0 {
                let sent = self.send(endpoint).await;
                self.set_trouble(
                    sent.err()
                        .map(|why| format!("{}: {why}", endpoint.authority())),
                );
            } else {
                *self.traces.lock() = Traces::default();
                self.set_trouble(None);
            }
            let stops = tokio::select! {
                () = self.due(&settings) => false,
                () = self.worker.asked_to_stop() => true,
            };
            if stops {
                if let Some(endpoint) = &settings.endpoint.0 {
                    let _ = self.send(endpoint).await;
                }
                return;
            }
        }
    }

    /// Returns when the next export is due, or the settings have changed.
    async fn due(&self, settings: &config::Otlp) {
        let changed = async {
            while self.settings() == *settings {
                self.changed.notified().await;
            }
        };
        if settings.endpoint.0.is_some() {
            let _ = time::timeout(settings.interval.0.0, changed).await;
        } else {
            changed.await;
        }
    }

    fn settings(&self) -> config::Otlp {
        self.shared.config().settings.otlp.clone()
    }

    /// Sends finished spans and all figures. The error says why they were not accepted.
    async fn send(&self, endpoint: &Endpoint) -> Result<(), String> {
        let spans = self.traces.lock().take_finished();
        if !spans.is_empty() {
            let answer = post(
                endpoint,
                "/v1/traces",
                messages::of_spans(self.instance, &spans),
            )
            .await;
            // Data that the collector will never accept is dropped.
            if answer
                .as_ref()
                .map_or(true, |status| LATER.contains(status))
            {
                self.traces.lock().put_back(spans);
            }
            accepted(answer?)?;
        }
        let figures = self
            .metrics
            .figures(&self.shared)
            .map_err(|error| error.to_string())?;
        let figures = messages::of_figures(self.instance, figures, self.metrics.began);
        accepted(post(endpoint, "/v1/metrics", figures).await?)
    }

    /// Sets the state for `status`, and logs changes of it only.
    fn set_trouble(&self, now: Option<String>) {
        let mut trouble = self.trouble.lock();
        match (&*trouble, &now) {
            (None, Some(why)) => {
                tracing::warn!(why, "Traces and metrics do not reach the collector.")
            }
            (Some(_), None) => tracing::info!("Traces and metrics reach the collector again."),
            _ => {}
        }
        *trouble = now;
    }
}

fn accepted(status: u16) -> Result<(), String> {
    if (200..300).contains(&status) {
        Ok(())
    } else {
        Err(format!("it answered {status}"))
    }
}

/// Posts a message. Returns the answer's status, or an error after [`SEND_WITHIN`].
async fn post(endpoint: &Endpoint, path: &str, message: Vec<u8>) -> Result<u16, String> {
    let answered = time::timeout(SEND_WITHIN, exchange(endpoint, path, &message)).await;
    let status = answered.map_err(|_| format!("no answer within {} s", SEND_WITHIN.as_secs()))?;
    status
        .map_err(|error| error.to_string())?
        .ok_or_else(|| "it does not answer in HTTP".to_owned())
}

async fn exchange(endpoint: &Endpoint, path: &str, message: &[u8]) -> std::io::Result<Option<u16>> {
    let mut stream = TcpStream::connect(endpoint.authority()).await?;
    let head = format!(
        "POST {}{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: checkpointd/{}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        endpoint.path(),
        endpoint.authority(),
        env!("CARGO_PKG_VERSION"),
        message.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(message).await?;
    let mut received = Vec::new();
    loop {
        match Head::parse(&received) {
            Ok(Some(head)) => return Ok(Some(head.status)),
            Ok(None) if stream.read_buf(&mut received).await? > 0 => {}
            Ok(None) | Err(_) => return Ok(None),
        }
    }
}
