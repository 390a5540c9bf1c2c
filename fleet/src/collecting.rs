//! A collector's side: the streams, and a durable consumer that remembers what was received.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_nats::{Message, Subscriber};
use broker::{HEADS, Problem, RUNS, Received, Result, Source};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;

use crate::link::Link;
use crate::publishing::marks;

/// The durable consumer's name.
const CONSUMER: &str = "collector";
/// How long the server keeps a request for messages.
const PULL: Duration = Duration::from_secs(20);
/// Limits of one request: messages and bytes.
const PULL_MESSAGES: usize = 500;
const PULL_BYTES: u64 = 16 << 20;
/// A pause in the stream after which the received messages are processed.
const SILENCE: Duration = Duration::from_millis(5);
/// The largest message.
const MESSAGE_BYTES: u64 = 256 << 10;
/// With less space than this nothing is begun.
const BYTES_LEAST: i64 = 256 << 20;
/// How long a repeated message id is noticed. None is sent; the server wants a value.
const WINDOW_NS: u64 = 120_000_000_000;
/// There is one server and no cluster. In a cluster fewer replicas are never made: others may only be late.
const ALONE: &str = "(10074)";

/// Reads a run; `None` for a message that no one waits to have acknowledged.
fn read(message: &Message) -> Option<Received> {
    let reply = message.reply.as_ref()?.to_string();
    // A server's answer that a client had sent to this subject has headers of the server's.
    let has = |name| {
        let headers = message.headers.as_ref();
        headers.is_some_and(|headers| headers.get(name).is_some())
    };
    let is_reflected = has("Nats-Stream") || has("Nats-Sequence") || !has("Ckpt-Format");
    let source = Source::of_subject(&message.subject).filter(|_| !is_reflected);
    Some(Received {
        source,
        sequence: sequence(&reply)?,
        marks: marks(message),
        body: message.payload.to_vec(),
        reply,
    })
}

/// Reads a message's number from where its acknowledgment goes.
fn sequence(reply: &str) -> Option<u64> {
    let parts: Vec<_> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
    // Stream, consumer, deliveries, sequence, and three more; newer servers have domain and account before, and maybe
    // one part behind.
    let at = if parts.len() > 7 { 5 } else { 3 };
    parts.get(at)?.parse().ok()
}

/// What comes for the consumer.
pub(crate) struct Feed {
    messages: Option<Subscriber>,
    /// Messages that the open request still allows.
    open: usize,
    asked: Instant,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self {
            messages: None,
            open: 0,
            asked: Instant::now(),
        }
    }
}

#[derive(Deserialize)]
struct StreamInfo {
    config: StreamConfig,
    state: StreamState,
}

#[derive(Deserialize)]
struct StreamConfig {
    num_replicas: u64,
    #[serde(default)]
    max_age: u64,
    #[serde(default)]
    discard: String,
}

#[derive(Default, Deserialize)]
struct StreamState {
    #[serde(default)]
    first_seq: u64,
    #[serde(default)]
    last_seq: u64,
    #[serde(default)]
    subjects: HashMap<String, u64>,
}

#[derive(Deserialize)]
struct ConsumerInfo {
    num_pending: u64,
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
    /// Makes the streams and the consumer that are missing. The stream of runs takes `bytes_max`, or half of that and so
    /// on if the servers do not have it. Returns what is not as it should be, one line each.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn prepare(&self, bytes_max: i64) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        self.stream(HEADS, &heads, &mut notes).await?;
        let mut bytes = bytes_max;
        loop {
            let made = self
                .stream(RUNS, &|replicas| runs(replicas, bytes), &mut notes)
                .await;
            match made {
                Err(Problem::Full(_)) if bytes > BYTES_LEAST => bytes /= 2,
                other => break other?,
            }
        }
        let consumer = json!({
            "stream_name": RUNS,
            "config": {
                "durable_name": CONSUMER, "ack_policy": "all", "deliver_policy": "all",
                "max_ack_pending": 5_000, "ack_wait": 30_000_000_000_u64,
            },
        });
        let name = format!("CONSUMER.DURABLE.CREATE.{RUNS}.{CONSUMER}");
        let _: Value = self.api(&name, &consumer).await?;
        Ok(notes)
    }

    async fn stream(
        &self,
        name: &str,
        config: &(dyn Fn(u64) -> Value + Sync),
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let info = match self.info(name, &Value::Null).await {
            Err(Problem::Missing(_)) => self.create(name, config).await?,
            other => other?,
        };
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
        Ok(())
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

    async fn info(&self, stream: &str, ask: &Value) -> Result<StreamInfo> {
        self.api(&format!("STREAM.INFO.{stream}"), ask).await
    }

    /// Returns the journals that have a head.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn sources(&self) -> Result<Vec<Source>> {
        let all = json!({ "subjects_filter": ">" });
        let subjects = self.info(HEADS, &all).await?.state.subjects;
        let mut sources: Vec<_> = subjects
            .keys()
            .filter_map(|name| Source::of_subject(name))
            .collect();
        sources.sort();
        Ok(sources)
    }

    /// Returns how many messages the consumer has still to deliver.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn pending(&self) -> Result<u64> {
        let name = format!("CONSUMER.INFO.{RUNS}.{CONSUMER}");
        let info: ConsumerInfo = self.api(&name, &Value::Null).await?;
        Ok(info.num_pending)
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

    /// Returns the next runs; none if none comes `within` a time.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn next(&self, feed: &mut Feed, within: Duration) -> Result<Vec<Received>> {
        if feed.open == 0 {
            self.pull(feed).await?;
        }
        let mut received = Vec::new();
        let mut wait = within;
        while feed.open > 0 {
            let Some(messages) = &mut feed.messages else {
                break;
            };
            let message = match timeout(wait, messages.next()).await {
                Ok(Some(message)) => message,
                // The request was lost with its connection.
                Ok(None) => {
                    feed.open = 0;
                    break;
                }
                Err(_) => {
                    // The request was lost with its connection, or is over since long.
                    if feed.asked.elapsed() > PULL {
                        feed.open = 0;
                    }
                    break;
                }
            };
            match message.status {
                // No more for this request: it is over, or its limit of bytes is reached.
                Some(status) if [404, 408, 409].contains(&status.as_u16()) => {
                    feed.open = 0;
                    let text = message.description.as_deref().unwrap_or_default();
                    if text.contains("eleted") {
                        return Err(Problem::Later("the consumer was deleted".into()));
                    }
                }
                Some(status) if status.as_u16() == 100 => {}
                Some(status) => {
                    feed.open = 0;
                    if received.is_empty() {
                        return Err(Problem::Later(format!("no consumer answers ({status})")));
                    }
                }
                None => {
                    feed.open -= 1;
                    received.extend(read(&message));
                    wait = SILENCE;
                }
            }
        }
        Ok(received)
    }

    async fn pull(&self, feed: &mut Feed) -> Result<()> {
        // A new inbox: answers to earlier requests may still come to the old one.
        let lost = |error: &dyn std::fmt::Display| Problem::Later(error.to_string());
        let inbox = self.client.new_inbox();
        let messages = self.client.subscribe(inbox.clone()).await;
        feed.messages = Some(messages.map_err(|error| lost(&error))?);
        let expires = u64::try_from(PULL.as_nanos()).unwrap_or(u64::MAX);
        let ask = json!({ "batch": PULL_MESSAGES, "expires": expires, "max_bytes": PULL_BYTES });
        let name = format!("$JS.API.CONSUMER.MSG.NEXT.{RUNS}.{CONSUMER}");
        let asked = self
            .client
            .publish_with_reply(name, inbox, ask.to_string().into());
        asked.await.map_err(|error| lost(&error))?;
        feed.open = PULL_MESSAGES;
        feed.asked = Instant::now();
        Ok(())
    }

    /// Acknowledges a run and all runs before it.
    ///
    /// # Errors
    ///
    /// If there is no connection. Then they come again.
    pub(crate) async fn taken(&self, reply: String) -> Result<()> {
        let said = self.client.publish(reply, "+ACK".into()).await;
        said.map_err(|error| Problem::Later(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_messages_number_is_read_from_both_forms_of_its_reply() {
        assert_eq!(
            sequence("$JS.ACK.FLEET.collector.1.42.7.1700000000.3"),
            Some(42)
        );
        let newer = "$JS.ACK._.ACCHASH.FLEET.collector.1.43.7.1700000000.3";
        assert_eq!(sequence(newer), Some(43));
        assert_eq!(sequence(&format!("{newer}.random")), Some(43));
        assert_eq!(sequence("_INBOX.x"), None);
    }
}
