//! A machine's side: the last message of its subject, and the next one after exactly that.

use async_nats::{HeaderMap, Message};
use broker::{HEADS, Head, Marks, Problem, RUNS, Result, Source, Stored};
use serde::Deserialize;

use crate::link::{Link, read};

const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const EXPECTED_STREAM: &str = "Nats-Expected-Stream";
const SEQUENCE: &str = "Nats-Sequence";
const FORMAT: &str = "Ckpt-Format";
const LAST: &str = "Ckpt-Last";
const CHAIN: &str = "Ckpt-Chain";
const PROOF: &str = "Ckpt-Proof";

#[derive(Deserialize)]
struct Ack {
    seq: u64,
}

pub(crate) fn marks(message: &Message) -> Option<Marks> {
    let headers = message.headers.as_ref()?;
    let text = |name| Some(headers.get(name)?.as_str().to_owned());
    text(FORMAT)?;
    Some(Marks {
        last: text(LAST)?.parse().ok()?,
        chain: text(CHAIN)?,
        proof: text(PROOF)?,
    })
}

impl Link {
    /// Returns the last message of a subject. A replica that is behind may answer, so it may be an earlier one.
    async fn last(&self, stream: &str, subject: &str) -> Result<Option<(u64, Message)>> {
        let name = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        let answer = self.request(name, HeaderMap::new(), Vec::new()).await?;
        if let Some(status) = answer.status {
            return match status.as_u16() {
                404 => Ok(None),
                other => Err(Problem::Later(format!("status {other}"))),
            };
        }
        let headers = answer.headers.as_ref();
        let sequence = headers.and_then(|headers| headers.get(SEQUENCE)?.as_str().parse().ok());
        let sequence =
            sequence.ok_or_else(|| Problem::Later("a message without a number".into()))?;
        Ok(Some((sequence, answer)))
    }

    /// Returns the last run of a journal.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn last_run(&self, source: &Source) -> Result<Option<Stored>> {
        let last = self.last(RUNS, &source.runs()).await?;
        Ok(last.map(|(sequence, message)| Stored {
            sequence,
            marks: marks(&message),
        }))
    }

    /// Returns what the collector has of a journal.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub(crate) async fn head(&self, source: &Source) -> Result<Option<Head>> {
        let last = self.last(HEADS, &source.head()).await?;
        let head = last.map(|(_, message)| serde_json::from_slice(&message.payload));
        head.transpose().map_err(|error| {
            Problem::Refused(format!(
                "invalid answer about the collector's position: {error}"
            ))
        })
    }

    /// Stores a run if the subject's last message has the number `expected`, 0 for none. Returns the run's number.
    ///
    /// # Errors
    ///
    /// [`Problem::Moved`] if it has another one. After any other error it is not known whether the run was stored.
    pub(crate) async fn publish(
        &self,
        source: &Source,
        expected: u64,
        marks: &Marks,
        body: Vec<u8>,
    ) -> Result<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(EXPECTED, expected.to_string());
        headers.insert(EXPECTED_STREAM, RUNS);
        headers.insert(FORMAT, "1");
        headers.insert(LAST, marks.last.to_string());
        headers.insert(CHAIN, marks.chain.as_str());
        headers.insert(PROOF, marks.proof.as_str());
        let answer = self.request(source.runs(), headers, body).await?;
        read::<Ack>(&answer).map(|ack| ack.seq)
    }

    /// Publishes what the collector has of a journal. No acknowledgment is awaited: the next message repeats the
    /// figures.
    ///
    /// # Errors
    ///
    /// If there is no connection.
    pub(crate) async fn say_head(&self, source: &Source, head: &Head) -> Result<()> {
        let body = serde_json::to_vec(head).expect("plain data");
        let said = self.client.publish(source.head(), body.into()).await;
        said.map_err(|error| Problem::Later(error.to_string()))
    }
}
