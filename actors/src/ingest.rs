//! Taking hook calls in: dedupe, append, and see to it that stops are decided about.
//!
//! Overload goes back to the caller, who spools; nothing waits here without a bound.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::config::Config;
use checkpoint::hooks::{self, Normal, Reading};
use journal::{Draft, Event, Timestamp};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::Shared;
use crate::draft::daemon_draft;
use crate::hook_headers::HookHeaders;
use crate::hook_reply::{HookReply, Wait};
use crate::progress::{self, Beginning};
use crate::registry::{DecideIn, SessionRegistry};
use crate::session::Decide;
use crate::shared::Counters;

/// Two calls with the same content so close together are one call of a hook that is registered twice.
const SAME_CALL_WITHIN: Duration = Duration::from_secs(1);
/// Contents that are remembered for that.
const REMEMBERED_MAX: usize = 4_096;

/// Why a call was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The payload says nothing that can be kept as an event: one sentence.
    Payload(String),
    /// Come again later, or spool.
    Overloaded,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Place of its event.
    pub seq: u64,
    /// It was there already.
    pub duplicate: bool,
    /// The reply to give; empty for none.
    pub reply: String,
}

/// The actor that takes hook calls in.
pub struct Ingest {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    replies: Addr<HookReply>,
    /// Contents seen of late: the id they were given, and when.
    recent: HashMap<Uuid, (Uuid, Timestamp)>,
}

impl Ingest {
    /// Begins with nothing remembered.
    pub fn new(
        shared: Arc<Shared>,
        sessions: Addr<SessionRegistry>,
        replies: Addr<HookReply>,
    ) -> Self {
        Self {
            shared,
            sessions,
            replies,
            recent: HashMap::new(),
        }
    }

    /// Gives a call the id of its twin, where it has one. Tells whether it had.
    fn same_call(&mut self, normal: &mut Normal) -> bool {
        let Draft { id, at, .. } = normal.draft;
        if self.recent.len() >= REMEMBERED_MAX {
            let latest = self.recent.values().map(|(_, at)| *at).max().unwrap_or(at);
            self.recent
                .retain(|_, (_, at)| latest.since(*at) < SAME_CALL_WITHIN);
        }
        match self.recent.get(&normal.content) {
            Some((known, when)) if at.since(*when).max(when.since(at)) < SAME_CALL_WITHIN => {
                let twin = *known != id;
                normal.draft.id = *known;
                twin
            }
            _ => {
                self.recent.insert(normal.content, (id, at));
                false
            }
        }
    }
}

impl Actor for Ingest {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
    }
}

/// Takes a call in. The outcome goes to `outcome`, after the time that its answer needs.
#[derive(Message)]
#[rtype(result = "()")]
pub struct AcceptHook {
    /// The call.
    pub normal: Normal,
    /// How long the caller waits for the answer to a stop; none where nobody does.
    pub waits: Option<Duration>,
    /// Where the outcome goes.
    pub outcome: oneshot::Sender<Result<Accepted, Refusal>>,
}

impl Handler<AcceptHook> for Ingest {
    type Result = ();

    fn handle(&mut self, take: AcceptHook, ctx: &mut Self::Context) {
        let AcceptHook {
            mut normal,
            waits,
            outcome,
        } = take;
        let twin = self.same_call(&mut normal);
        let work = Work {
            shared: Arc::clone(&self.shared),
            sessions: self.sessions.clone(),
            replies: self.replies.clone(),
            twin,
            waits,
        };
        let done = async move { drop(outcome.send(work.run(normal.draft).await)) };
        ctx.spawn(done.into_actor(self));
    }
}

/// One call on its way through.
struct Work {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    replies: Addr<HookReply>,
    twin: bool,
    waits: Option<Duration>,
}

impl Work {
    async fn run(self, draft: Draft) -> Result<Accepted, Refusal> {
        let session = draft.stream.session;
        let can_reply = match draft.event {
            Event::AgentStopped { can_reply, .. } => Some(can_reply),
            _ => None,
        };
        let begun = Beginning::of(&draft.stream, &draft.event)
            .map(|beginning| (draft.stream.clone(), beginning));
        let appended = self.shared.append(vec![draft]).await.map_err(|error| {
            if error != journal::Error::Overloaded {
                tracing::error!(%session, %error, "Could not journal a hook call.");
            }
            Counters::count(&self.shared.counters.overloaded);
            Refusal::Overloaded
        })?;
        let Some(own) = appended.first().copied() else {
            return Err(Refusal::Overloaded);
        };
        if own.duplicate {
            Counters::count(&self.shared.counters.duplicates);
        }
        let reply = match can_reply {
            // The hook that is registered first gets the answer; its twin gets none, or the agent would read it twice.
            Some(true) if !self.twin => self.answer(session, own.seq).await?,
            Some(false) if !own.duplicate => self
                .decide(session, own.seq, false)
                .await
                .map(|()| String::new())?,
            _ => match begun.filter(|_| !self.twin && self.waits.is_some()) {
                Some((stream, beginning)) => {
                    progress::greet(&self.shared, &stream, &beginning, own.seq)
                        .await
                        .unwrap_or_default()
                }
                None => String::new(),
            },
        };
        Ok(Accepted {
            seq: own.seq,
            duplicate: own.duplicate,
            reply,
        })
    }

    async fn answer(&self, session: Uuid, seq: u64) -> Result<String, Refusal> {
        let Some(within) = self.waits else {
            self.decide(session, seq, false).await?;
            return Ok(String::new());
        };
        let (answer, answered) = oneshot::channel();
        let wait = Wait {
            session,
            seq,
            within,
            answer,
        };
        self.replies
            .send(wait)
            .await
            .map_err(|_| Refusal::Overloaded)?;
        self.decide(session, seq, true).await?;
        Ok(answered.await.unwrap_or_default())
    }

    async fn decide(&self, session: Uuid, seq: u64, answered: bool) -> Result<(), Refusal> {
        self.shared
            .settle()
            .await
            .map_err(|_| Refusal::Overloaded)?;
        let order = DecideIn {
            session,
            decide: Decide { seq, answered },
        };
        self.sessions
            .send(order)
            .await
            .map_err(|_| Refusal::Overloaded)
    }
}

/// Reads a hook call into normal form, with the settings in force.
///
/// # Errors
///
/// [`Refusal::Payload`] if the agent is unknown or the payload cannot be read; the payload is then journaled as rejected.
/// [`Refusal::Overloaded`] if the journal does not take that.
pub async fn read_call(
    shared: &Shared,
    headers: &HookHeaders,
    payload: &[u8],
) -> Result<Normal, Refusal> {
    let config = shared.config();
    let reading = Reading {
        prefix: &config.settings.prefix.0,
        payload_bytes_max: payload_bytes_max(&config),
        redactor: &config.redactor,
    };
    let call = headers.with_payload(payload);
    let normal = call
        .map_err(|error| error.to_string())
        .and_then(|call| hooks::normalise(&call, reading));
    match normal {
        Ok(normal) => Ok(normal),
        Err(problem) => {
            let event = headers.event.as_deref();
            reject(shared, &headers.agent, event, payload, headers.id, &problem).await?;
            Err(Refusal::Payload(problem))
        }
    }
}

fn payload_bytes_max(config: &Config) -> usize {
    usize::try_from(config.settings.journal.payload_bytes_max.0).unwrap_or(usize::MAX)
}

/// Keeps a payload that could not be read.
///
/// # Errors
///
/// [`Refusal::Overloaded`] when the journal does not take it: whoever has it must keep it.
pub async fn reject(
    shared: &Shared,
    agent: &str,
    hook: Option<&str>,
    payload: &[u8],
    id: Uuid,
    problem: &str,
) -> Result<(), Refusal> {
    Counters::count(&shared.counters.rejected);
    let config = shared.config();
    // Nobody knows what this is, so all of it is searched.
    let clean = |text: &str| config.redactor.text(text).into_owned();
    let (agent, hook, problem) = (&clean(agent), hook.map(clean), &clean(problem));
    tracing::warn!(
        agent,
        hook = hook.as_deref(),
        bytes = payload.len(),
        problem,
        "A hook payload could not be read."
    );
    let event = Event::PayloadRejected {
        claimed_agent: agent.clone(),
        hook,
        problem: problem.clone(),
    };
    let text = clean(&String::from_utf8_lossy(payload));
    let raw = hooks::keep_payload(&text, payload_bytes_max(&config));
    let draft = Draft {
        payload: Some(raw),
        id,
        ..daemon_draft(event, "")
    };
    shared.append(vec![draft]).await.map(drop).map_err(|error| {
        tracing::warn!(%error, "Could not keep a rejected payload.");
        Refusal::Overloaded
    })
}
