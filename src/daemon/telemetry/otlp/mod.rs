//! Decisions and figures for a collector of OpenTelemetry: OTLP/HTTP in protobuf, off unless `otlp.endpoint` is set.
//!
//! It follows the journal as the figures do, and sends on a thread of its own, so no hook and no decision ever waits for a
//! collector. What waits for one that is away is bounded (`traces.rs`); figures are told whole each time and need no
//! keeping. The protocol's messages come from its own crate. Its SDK is not used: it counts for itself, and takes settings
//! from the environment. For the same reason one request over `http` is made here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::Shared;
use checkpoint::config::{self, Endpoint};
use journal::Envelope;
use journal::reply::Head;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time;
use uuid::Uuid;

use crate::daemon::telemetry::figures::Metrics;

mod messages;
mod traces;

use traces::Traces;

/// The longest that one request may take.
const SEND_WITHIN: Duration = Duration::from_secs(5);
/// The longest that the daemon's stop waits for the last export.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
/// A collector that answers with one of these takes the same again later (OTLP, "Retryable Response Codes").
const LATER: [u16; 4] = [429, 502, 503, 504];

/// Tells a collector of what is journaled.
pub(crate) struct Otlp {
    shared: Arc<Shared>,
    metrics: Arc<Metrics>,
    traces: Mutex<Traces>,
    trouble: Mutex<Option<String>>,
    /// Tells one run of the daemon from another.
    instance: Uuid,
    changed: Notify,
    stop: Notify,
    ended: Notify,
}

impl Otlp {
    /// Makes one that sends nothing yet.
    pub(crate) fn new(shared: Arc<Shared>, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            metrics,
            traces: Mutex::default(),
            trouble: Mutex::default(),
            instance: Uuid::new_v4(),
            changed: Notify::new(),
            stop: Notify::new(),
            ended: Notify::new(),
        })
    }

    /// Notes what was appended. Waits for nothing but another note.
    pub(crate) fn tell(&self, events: &[Envelope]) {
        if self.shared.config().settings.otlp.endpoint.0.is_some() {
            let mut traces = self.traces();
            events.iter().for_each(|envelope| traces.note(envelope));
        }
    }

    /// Looks at the settings again.
    pub(crate) fn settings_changed(&self) {
        self.changed.notify_one();
    }

    /// Returns why nothing reaches the collector; none while all is well.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Begins to send, on a thread of its own. A system that has none to give costs the export, not the daemon.
    pub(crate) fn start(self: &Arc<Self>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build();
        let own = Arc::clone(self);
        let started = runtime.and_then(|runtime| {
            std::thread::Builder::new()
                .name("otlp".into())
                .spawn(move || {
                    runtime.block_on(own.run());
                    own.ended.notify_one();
                })
        });
        if let Err(error) = started {
            self.set_trouble(Some(error.to_string()));
        }
    }

    /// Sends what is left, and returns when that is done or has taken too long.
    pub(crate) async fn close(&self) {
        self.stop.notify_one();
        let _ = time::timeout(CLOSE_WITHIN, self.ended.notified()).await;
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
                *self.traces() = Traces::default();
                self.set_trouble(None);
            }
            let stops = tokio::select! {
                () = self.due(&settings) => false,
                () = self.stop.notified() => true,
            };
            if stops {
                if let Some(endpoint) = &settings.endpoint.0 {
                    let _ = self.send(endpoint).await;
                }
                return;
            }
        }
    }

    /// Returns when there is to be sent again, or the settings are others.
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

    /// Sends finished spans and all figures; a sentence when they were not taken.
    async fn send(&self, endpoint: &Endpoint) -> Result<(), String> {
        let spans = self.traces().take_finished();
        if !spans.is_empty() {
            let answer = post(
                endpoint,
                "/v1/traces",
                messages::of_spans(self.instance, spans.clone()),
            )
            .await;
            // What it will never take is not kept for it.
            if answer
                .as_ref()
                .map_or(true, |status| LATER.contains(status))
            {
                self.traces().put_back(spans);
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

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps for `status` how it stands, and logs the change, not every attempt.
    fn set_trouble(&self, now: Option<String>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*trouble, &now) {
            (None, Some(why)) => {
                tracing::warn!(why, "Decisions and figures do not reach the collector.")
            }
            (Some(_), None) => tracing::info!("Decisions and figures are not held up any more."),
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

/// Posts a message and returns the status of the answer, or a sentence when there was none in time.
async fn post(endpoint: &Endpoint, path: &str, message: Vec<u8>) -> Result<u16, String> {
    let answered = time::timeout(SEND_WITHIN, exchange(endpoint, path, &message)).await;
    let status = answered.map_err(|_| format!("no answer within {} s", SEND_WITHIN.as_secs()))?;
    status
        .map_err(|error| error.to_string())?
        .ok_or_else(|| "it does not speak HTTP".to_owned())
}

async fn exchange(endpoint: &Endpoint, path: &str, message: &[u8]) -> std::io::Result<Option<u16>> {
    let mut stream = TcpStream::connect(endpoint.authority()).await?;
    let head = format!(
        "POST {}{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: checkpointd/{}\r\nContent-Type: application/x-protobuf\r\n\
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
