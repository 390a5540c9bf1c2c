//! Answering the hook calls that wait: with a checkpoint in the agent's own format or with nothing, always in time
//! (spec DELIV-2 to DELIV-6).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::reply;
use journal::{Decision, Event, Route, Stream, Timestamp};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::Shared;
use crate::draft::derived;

/// The actor that holds the waiting hook calls.
pub struct HookReply {
    shared: Arc<Shared>,
    waiting: HashMap<(Uuid, u64), oneshot::Sender<String>>,
}

impl HookReply {
    /// Creates the actor; no hook call waits yet.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: HashMap::new(),
        }
    }

    /// Answers a call with nothing; returns whether it waited.
    fn release(&mut self, key: (Uuid, u64)) -> bool {
        let waiting = self.waiting.remove(&key);
        waiting.is_some_and(|answer| answer.send(String::new()).is_ok())
    }
}

impl Actor for HookReply {
    type Context = Context<Self>;
}

/// Registers a hook call that waits for the answer to a stop.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Wait {
    /// The session that stopped.
    pub session: Uuid,
    /// Sequence number of the stop.
    pub seq: u64,
    /// How long the call may wait.
    pub within: Duration,
    /// Receives the reply, or the empty text.
    pub answer: oneshot::Sender<String>,
}

impl Handler<Wait> for HookReply {
    type Result = ();

    fn handle(&mut self, wait: Wait, ctx: &mut Self::Context) {
        let key = (wait.session, wait.seq);
        // One caller gets the answer; an earlier one for the same stop has given up by now.
        self.release(key);
        self.waiting.insert(key, wait.answer);
        ctx.run_later(wait.within, move |actor, _| {
            if actor.release(key) {
                tracing::warn!(session = %key.0, seq = key.1, "A stop was not decided in time; the agent stops normally.");
            }
        });
    }
}

/// A decision about a stop is in the journal and can be delivered.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Decided {
    /// The session that stopped.
    pub stream: Stream,
    /// Sequence number of the decision.
    pub seq: u64,
    /// The decision to deliver.
    pub decision: Box<Decision>,
    /// Counts from 1; a hook call that was cut off is repeated.
    pub attempt: u32,
}

impl Handler<Decided> for HookReply {
    type Result = ();

    fn handle(&mut self, decided: Decided, ctx: &mut Self::Context) {
        let key = (decided.stream.session, decided.decision.trigger);
        let (Some(form), Some(message)) =
            (decided.decision.form, decided.decision.message.as_deref())
        else {
            // The stop passes, or its checkpoint is typed.
            self.release(key);
            return;
        };
        let waiting = self.waiting.remove(&key);
        let Some(answer) = waiting.filter(|answer| !answer.is_closed()) else {
            ctx.spawn(fail(Arc::clone(&self.shared), decided, "nobody_waiting").into_actor(self));
            return;
        };
        let agents = &self.shared.config().settings.agents;
        let reply = match agents.of(decided.stream.agent) {
            Some(described) => reply::to_described_stop(described.reply, message),
            None => reply::to_stop(form, message),
        };
        ctx.spawn(deliver(Arc::clone(&self.shared), decided, answer, reply).into_actor(self));
    }
}

/// Answers the hook call that waits for a stop with nothing.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Release {
    /// The session that stopped.
    pub session: Uuid,
    /// Sequence number of the stop.
    pub seq: u64,
}

impl Handler<Release> for HookReply {
    type Result = ();

    fn handle(&mut self, release: Release, _: &mut Self::Context) {
        self.release((release.session, release.seq));
    }
}

/// Journals the delivery attempt, then sends the reply.
async fn deliver(
    shared: Arc<Shared>,
    decided: Decided,
    answer: oneshot::Sender<String>,
    reply: String,
) {
    let Decided {
        stream,
        seq,
        attempt,
        ..
    } = &decided;
    let event = Event::DeliveryAttempted {
        decision: *seq,
        route: Route::HookReply,
        attempt: *attempt,
    };
    let draft = derived(stream, Timestamp::now(), event, format!("{seq}:{attempt}"));
    if let Err(error) = shared.append(vec![draft]).await {
        tracing::error!(session = %stream.session, seq, %error, "Could not journal a delivery; the agent stops normally.");
        let _ = answer.send(String::new());
        return;
    }
    if answer.send(reply).is_err() {
        fail(shared, decided, "caller_gone").await;
    }
}

async fn fail(shared: Arc<Shared>, decided: Decided, reason: &str) {
    let event = Event::DeliveryFailed {
        decision: decided.seq,
        reason: reason.to_owned(),
    };
    let draft = derived(&decided.stream, Timestamp::now(), event, decided.seq);
    if let Err(error) = shared.append(vec![draft]).await {
        tracing::error!(session = %decided.stream.session, seq = decided.seq, %error, "Could not journal a failed delivery.");
    }
}
