//! A collector's side: the streams, and reading runs by their numbers. The broker keeps nothing of what was read, so
//! nothing that it forgets or says too early can be lost.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_nats::Message;
use broker::{Batch, HEADS, Look, Problem, RUNS, Received, Result, Source};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt as _;

use crate::link::{ANSWER_WAIT, Link};
use crate::publishing::marks;

/// Limits of one request: messages and bytes.
const READ_MESSAGES: u64 = 500;
const READ_BYTES: u64 = 16 << 20;
/// The first and the longest pause before the stream is asked again for what it did not have.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);
/// The server's headers of a message that was read by its number.
const SEQUENCE: &str = "Nats-Sequence";
const SUBJECT: &str = "Nats-Subject";
const PENDING: &str = "Nats-Num-Pending";
/// The largest message.
const MESSAGE_BYTES: u64 = 256 << 10;
/// With less space than this nothing is begun.
const BYTES_LEAST: i64 = 256 << 20;
/// How long a repeated message id is noticed. None is sent; the server wants a value.
const WINDOW_NS: u64 = 120_000_000_000;
/// There is one server and no cluster. In a cluster fewer replicas are never made: others may only be late.
const ALONE: &str = "(10074)";

/// Reads a run.
fn received(message: &Message, sequence: u64) -> Received {
    let headers = message.headers.as_ref();
    // A server's answer that a client had sent to this subject has these headers twice.
    let is_reflected = headers.is_none_or(|headers| headers.get_all(SEQUENCE).count() != 1);
    let marks = marks(message);
    let subject = headers.and_then(|headers| headers.get(SUBJECT));
    let source = subject.and_then(|subject| Source::of_subject(subject.as_str()));
    Received {
        source: source.filter(|_| !is_reflected && marks.is_some()),
        sequence,
        marks,
        body: message.payload.to_vec(),
    }
}

fn number(message: &Message, header: &str) -> Option<u64> {
    message.headers.as_ref()?.get(header)?.as_str().parse().ok()
}

#[derive(Deserialize)]
struct StreamInfo {
    config: StreamConfig,
    state: StreamState,
    #[serde(default)]
    cluster: Cluster,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cluster {
    leader: Option<String>,
    replicas: Vec<Replica>,
}

#[derive(Deserialize)]
struct Replica {
    name: String,
    #[serde(default)]
    current: bool,
    #[serde(default)]
    lag: u64,
}

#[derive(Deserialize)]
struct StreamConfig {
    num_replicas: u64,
    #[serde(default)]
    max_age: u64,
    #[serde(default)]
    discard: String,
    #[serde(default)]
    max_bytes: i64,
}

#[derive(Default, Deserialize)]
struct StreamState {
    #[serde(default)]
    first_seq: u64,
    #[serde(default)]
    last_seq: u64,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    subjects: HashMap<String, u64>,
}

#[derive(Deserialize)]
struct Found {
    message: FoundMessage,
}

#[derive(Deserialize)]
struct FoundMessage {
    time: String,
}

#[derive(Deserialize)]
struct Purged {
    purged: u64,
}

fn runs(replicas: u64, bytes_max: i64) -> Value {
    json!({
        "name": RUNS, "subjects": ["ckpt.v1.*.*"], "storage": "file", "num_replicas": replicas,
        "retention": "limits", "discard": "new", "max_bytes": bytes_max, "max_age": 0, "max_msgs": -1,
        "max_msg_size": MESSAGE_BYTES, "max_msgs_per_subject": -1, "compression": "none",
        "allow_direct": true, "deny_delete": true, "duplicate_window": WINDOW_NS,
    })
}

fn heads(replicas: u64) -> Value {
    json!({
        "name": HEADS, "subjects": ["head.v1.*.*"], "storage": "file", "num_replicas": replicas,
        "retention": "limits", "discard": "old", "max_msgs_per_subject": 1, "allow_direct": true,
        "duplicate_window": WINDOW_NS,
    })
}

impl Link {
    /// Makes the streams that are missing. The stream of runs takes `bytes_max`, or half of that and so on if the servers
    /// do not have it.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn prepare(&self, bytes_max: i64) -> Result<()> {
        self.stream(HEADS, &heads).await?;
        let mut bytes = bytes_max;
        loop {
            match self.stream(RUNS, &|replicas| runs(replicas, bytes)).await {
                Err(Problem::Full(_)) if bytes > BYTES_LEAST => bytes /= 2,
                other => break other,
            }
        }
    }

    async fn stream(&self, name: &str, config: &(dyn Fn(u64) -> Value + Sync)) -> Result<()> {
        match self.info(name, &Value::Null).await {
            Err(Problem::Missing(_)) => self.create(name, config).await.map(drop),
            other => other.map(drop),
        }
    }

    /// Returns what the stream of runs says of itself.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn look(&self) -> Result<Look> {
        let mut look = Look::default();
        for name in [HEADS, RUNS] {
            let info = self.info(name, &Value::Null).await?;
            look.notes.extend(notes(name, &info));
            let state = info.state;
            (look.first, look.last) = (state.first_seq, state.last_seq);
            let most = u64::try_from(info.config.max_bytes).unwrap_or(0);
            look.is_nearly_full = most > 0 && state.bytes > most / 5 * 4;
        }
        Ok(look)
    }

    async fn create(
        &self,
        name: &str,
        config: &(dyn Fn(u64) -> Value + Sync),
    ) -> Result<StreamInfo> {
        let api = format!("STREAM.CREATE.{name}");
        match self.api(&api, &config(3)).await {
            Err(problem) if problem.to_string().contains(ALONE) => self.api(&api, &config(1)).await,
            other => other,
        }
    }

    /// Returns what the leader of a stream says of it. Without one, another server says what it has; if it is cut off, that
    /// is not all, and the others may have a leader.
    async fn info(&self, stream: &str, ask: &Value) -> Result<StreamInfo> {
        let info: StreamInfo = self.api(&format!("STREAM.INFO.{stream}"), ask).await?;
        if info.config.num_replicas > 1 && info.cluster.leader.is_none() {
            return Err(Problem::Later(format!(
                "stream {stream} has no leader: at least two of its three servers must run and reach each other"
            )));
        }
        Ok(info)
    }

    /// Returns the journals that have runs in the stream.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn sources(&self) -> Result<Vec<Source>> {
        let all = json!({ "subjects_filter": ">" });
        let subjects = self.info(RUNS, &all).await?.state.subjects;
        let mut sources: Vec<_> = subjects
            .keys()
            .filter_map(|name| Source::of_subject(name))
            .collect();
        sources.sort();
        Ok(sources)
    }

    /// Removes all runs of a machine, or of one of its journals. Returns how many messages there were.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn purge(&self, machine: &str, journal: Option<&str>) -> Result<u64> {
        let filter = format!("ckpt.v1.{machine}.{}", journal.unwrap_or("*"));
        let name = format!("STREAM.PURGE.{RUNS}");
        let purged: Purged = self.api(&name, &json!({ "filter": filter })).await?;
        Ok(purged.purged)
    }

    /// Returns the number of the first run since a time, such as `2026-11-23T13:00:00` in UTC; if there is none, that of
    /// the next one.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn first_since(&self, time: &str) -> Result<u64> {
        let state = self.info(RUNS, &Value::Null).await?.state;
        let (mut from, mut to) = (state.first_seq, state.last_seq + 1);
        while from < to {
            let middle = from.midpoint(to);
            let ask = json!({ "seq": middle, "next_by_subj": ">" });
            let found = self
                .api::<Found>(&format!("STREAM.MSG.GET.{RUNS}"), &ask)
                .await;
            let is_before = match found {
                // Without fractions of a second all times have the same form.
                Ok(found) => found
                    .message
                    .time
                    .get(..19)
                    .is_some_and(|found| found < time),
                Err(Problem::Missing(_)) => false,
                Err(problem) => return Err(problem),
            };
            if is_before {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }

    /// Removes a journal's runs before a number. Returns how many there were.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn purge_before(&self, source: &Source, sequence: u64) -> Result<u64> {
        let ask = json!({ "filter": source.runs(), "seq": sequence });
        let purged: Purged = self.api(&format!("STREAM.PURGE.{RUNS}"), &ask).await?;
        Ok(purged.purged)
    }

    /// Returns the runs from a number on, of one journal or of all; none if none comes `within` a time.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn read(
        &self,
        from: u64,
        of: Option<&Source>,
        within: Duration,
    ) -> Result<Batch> {
        let began = Instant::now();
        let mut pause = PAUSE;
        loop {
            let batch = self.stored(from, of).await?;
            let left = within.saturating_sub(began.elapsed());
            if !batch.runs.is_empty() || left.is_zero() {
                return Ok(batch);
            }
            sleep(pause.min(left)).await;
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    /// Returns what the stream has from a number on. A replica that is behind may answer, so there may be more.
    async fn stored(&self, from: u64, of: Option<&Source>) -> Result<Batch> {
        let lost = |error: &dyn std::fmt::Display| Problem::Later(error.to_string());
        let inbox = self.client.new_inbox();
        let subscribed = self.client.subscribe(inbox.clone()).await;
        let mut messages = subscribed.map_err(|error| lost(&error))?;
        let subject = of.map_or_else(|| "ckpt.v1.*.*".to_owned(), Source::runs);
        let ask = json!({ "seq": from.max(1), "batch": READ_MESSAGES, "max_bytes": READ_BYTES, "next_by_subj": subject });
        let name = format!("$JS.API.DIRECT.GET.{RUNS}");
        let asked = self
            .client
            .publish_with_reply(name, inbox, ask.to_string().into());
        asked.await.map_err(|error| lost(&error))?;
        let mut batch = Batch {
            next: from,
            ..Batch::default()
        };
        loop {
            let message = timeout(ANSWER_WAIT, messages.next()).await;
            let message = message
                .ok()
                .flatten()
                .ok_or_else(|| Problem::Later("no answer".into()))?;
            match message.status.map(|status| status.as_u16()) {
                None => {
                    let sequence = number(&message, SEQUENCE);
                    let sequence = sequence.filter(|sequence| *sequence >= batch.next);
                    let sequence = sequence.ok_or_else(|| lost(&"a message without a number"))?;
                    batch.next = sequence + 1;
                    batch.runs.push(received(&message, sequence));
                }
                Some(204) => {
                    batch.behind = number(&message, PENDING).unwrap_or(0);
                    return Ok(batch);
                }
                Some(404) => return Ok(batch),
                Some(503) => return Err(lost(&"no stream answers")),
                Some(other) => return Err(lost(&format!("status {other}"))),
            }
        }
    }
}

/// Says what is not as it should be with a stream.
fn notes(name: &str, info: &StreamInfo) -> Vec<String> {
    let mut notes = Vec::new();
    if info.config.num_replicas < 3 {
        notes.push(format!(
            "stream {name} has {} replica: if one server is lost, events that the collector has not received yet are lost too",
            info.config.num_replicas
        ));
    }
    if name == RUNS && (info.config.max_age != 0 || info.config.discard != "new") {
        notes.push(format!(
            "stream {name} drops old messages (max_age, discard): events that the collector has not received by then are lost"
        ));
    }
    for replica in &info.cluster.replicas {
        // Servers say of each other only whether they are up to date.
        if !replica.current {
            notes.push(format!(
                "server {} is away, or behind by {} messages of stream {name}: start it, or see its log",
                replica.name, replica.lag
            ));
        }
    }
    notes
}
