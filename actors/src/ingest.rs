//! Accepting hook calls: recognize duplicates, append, and ask for a decision about each stop.
//!
//! On overload the caller gets an error and spools the call; no queue here grows without bound.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::catalogue::Catalogue;
use checkpoint::config::Config;
use checkpoint::hooks::{self, Normal, Reading};
use checkpoint::policy::Exits;
use checkpoint::{agents, judging, text};
use journal::{Appended, Draft, Event, Stream};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::Shared;
use crate::dedup::RecentCalls;
use crate::draft::{daemon_draft, derived};
use crate::hook_headers::HookHeaders;
use crate::hook_reply::{HookReply, Wait};
use crate::progress::{self, Beginning};
use crate::registry::{DecideIn, SessionRegistry};
use crate::session::Decide;
use crate::shared::Counters;

/// Why a hook call was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The call cannot become an event; the text says why, in one sentence.
    Payload(String),
    /// The daemon is overloaded: retry later, or spool the call.
    Overloaded,
}

/// A hook call that is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Sequence number of its event.
    pub seq: u64,
    /// Whether the journal already had the event.
    pub duplicate: bool,
    /// What the hook prints for the agent; empty for nothing.
    pub reply: String,
}

/// The actor that accepts hook calls.
pub struct Ingest {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    replies: Addr<HookReply>,
    recent: RecentCalls,
    /// Calls to append together once the mailbox is empty: the journal's thread is woken once for all of them.
    gathered: Vec<(Draft, journal::Done)>,
}

/// The most calls that are gathered. Fewer than may wait for the journal.
const GATHERED_MAX: usize = 64;

impl Ingest {
    /// Creates the actor; it remembers no calls yet.
    pub fn new(
        shared: Arc<Shared>,
        sessions: Addr<SessionRegistry>,
        replies: Addr<HookReply>,
    ) -> Self {
        Self {
            shared,
            sessions,
            replies,
            recent: RecentCalls::default(),
            gathered: Vec::new(),
        }
    }

    /// Gathers a call to append.
    fn gather(&mut self, draft: Draft, done: journal::Done, ctx: &mut Context<Self>) {
        self.gathered.push((draft, done));
        match self.gathered.len() {
            // An actor's futures follow once its mailbox is empty.
            1 => {
                ctx.spawn(async {}.into_actor(self).map(|(), actor, _| actor.flush()));
            }
            GATHERED_MAX.. => self.flush(),
            _ => {}
        }
    }

    /// Hands over what was gathered.
    fn flush(&mut self) {
        if !self.gathered.is_empty() {
            let gathered = std::mem::take(&mut self.gathered);
            self.shared.journal.append_each(gathered);
        }
    }

    fn reuse_id_of_twin(&mut self, normal: &mut Normal) -> bool {
        let Draft { id, at, .. } = normal.draft;
        normal.draft.id = self.recent.id_of(normal.content, id, at);
        normal.draft.id != id
    }
}

impl Actor for Ingest {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
    }
}

/// Accepts a hook call. The outcome is sent once its reply is known.
#[derive(Message)]
#[rtype(result = "()")]
pub struct AcceptHook {
    /// The call, in normal form.
    pub normal: Normal,
    /// How long the caller waits for the answer to a stop; `None` if no caller waits.
    pub waits: Option<Duration>,
    /// Receives the outcome.
    pub outcome: oneshot::Sender<Result<Accepted, Refusal>>,
}

impl Handler<AcceptHook> for Ingest {
    type Result = ();

    fn handle(&mut self, call: AcceptHook, ctx: &mut Self::Context) {
        let AcceptHook {
            mut normal,
            waits,
            mut outcome,
        } = call;
        let twin = self.reuse_id_of_twin(&mut normal);
        let waits = waits.filter(|_| normal.may_continue && !twin);
        let draft = normal.draft;
        self.shared.others.see(&draft);
        let session = draft.stream.session;
        let leaves = (!twin).then(|| leaves(&self.shared, &draft, waits.is_some()));
        let leaves = leaves.flatten();
        let next = match &leaves {
            Some(_) => Next::Decide {
                can_reply: waits.is_some(),
            },
            None => Next::of(&draft, waits.is_some(), twin),
        };
        if matches!(next, Next::Nothing) {
            // The journal's thread answers by itself. It must not hold the journal.
            let counters = Arc::clone(&self.shared.counters);
            let done = move |appended| {
                let own = own(&counters, session, appended);
                let _ = outcome.send(own.map(|own| accepted(&counters, own, String::new())));
            };
            self.gather(draft, Box::new(done), ctx);
            return;
        }
        let drafts = std::iter::once(draft).chain(leaves).collect();
        let appended = self.append(drafts, &next, waits.is_some());
        let work = Work {
            shared: Arc::clone(&self.shared),
            sessions: self.sessions.clone(),
            replies: self.replies.clone(),
            session,
            waits,
        };
        // A separate task: an actor polls all its futures whenever one makes progress.
        actix::spawn(async move {
            let done = work.run(appended, next, &mut outcome).await;
            drop(outcome.send(done));
        });
    }
}

/// Returns the event for work that is handed over, if that is to be decided. A command is decided about with `exits: off`,
/// too, beside the agent: then the journal knows what would have been held. With any other value, an agent that does not
/// wait cannot be held.
fn leaves(shared: &Shared, draft: &Draft, waits: bool) -> Option<Draft> {
    let host = draft.event.host()?;
    let settings = &shared.config().settings;
    let exits = settings.hooks.exits;
    let adapter = agents::adapter(draft.stream.agent).filter(|_| waits || exits == Exits::Off)?;
    let command = match &draft.event {
        Event::ToolStarted { call, .. } => {
            adapter.tool_form?;
            let command = call.command.as_ref()?;
            let leaving = judging::leaving(&Catalogue::with(&settings.programs), command);
            leaving.first()?;
            Some(text::head(command, Event::TEXT_BYTES_MAX).to_owned())
        }
        _ if exits == Exits::Parts && adapter.part_hooks.contains(&&*host.hook) => None,
        _ => return None,
    };
    let event = Event::WorkLeaves {
        // What leaves is the work of all.
        subagent: host.subagent.clone().filter(|_| command.is_none()),
        command,
        host_turn: host.turn.clone(),
    };
    Some(derived(&draft.stream, draft.at, event, draft.id))
}

/// What has to be done about a call once it is in the journal.
enum Next {
    Nothing,
    /// A decision about a stop, or about work that leaves, for the caller if it waits.
    Decide {
        can_reply: bool,
    },
    /// A reply with context for the beginning of a session.
    Greet(Stream, Beginning),
}

impl Next {
    fn of(draft: &Draft, waits: bool, twin: bool) -> Self {
        match draft.event {
            // Only the first of two duplicate registrations gets the answer, or the agent would read it twice.
            Event::AgentStopped {
                can_reply: true, ..
            } if twin => Self::Nothing,
            Event::AgentStopped { can_reply, .. } => Self::Decide { can_reply },
            _ => match Beginning::of(&draft.stream, &draft.event).filter(|_| waits) {
                Some(beginning) => Self::Greet(draft.stream.clone(), beginning),
                None => Self::Nothing,
            },
        }
    }
}

type Acknowledgment = journal::Result<oneshot::Receiver<journal::Result<Vec<Appended>>>>;

impl Ingest {
    /// Hands a call to the journal, in the order in which the calls came. A stop is acknowledged once it can be read, too.
    fn append(&mut self, drafts: Vec<Draft>, next: &Next, waits: bool) -> Acknowledgment {
        self.flush();
        let (sender, appended) = oneshot::channel();
        let done = move |result| drop(sender.send(result));
        let journal = &self.shared.journal;
        match next {
            // A caller that is answered after the decision is answered after its sync: one sync is enough for both.
            Next::Decide { can_reply: true } if waits => {
                journal.append_unsynced(drafts, journal.once_readable(done))?;
            }
            Next::Decide { .. } => journal.append(drafts, journal.once_readable(done))?,
            Next::Greet(..) | Next::Nothing => journal.append(drafts, done)?,
        }
        Ok(appended)
    }
}

/// Returns the result for the event of an append that is decided about: the last, which is mostly the only one.
fn own(
    counters: &Counters,
    session: Uuid,
    appended: journal::Result<Vec<Appended>>,
) -> Result<Appended, Refusal> {
    let appended = appended.map_err(|error| refused(counters, session, &error))?;
    appended.last().copied().ok_or(Refusal::Overloaded)
}

fn accepted(counters: &Counters, own: Appended, reply: String) -> Accepted {
    if own.duplicate {
        Counters::count(&counters.duplicates);
    }
    Accepted {
        seq: own.seq,
        duplicate: own.duplicate,
        reply,
    }
}

fn refused(counters: &Counters, session: Uuid, error: &journal::Error) -> Refusal {
    if *error != journal::Error::Overloaded {
        tracing::error!(%session, %error, "Could not journal a hook call.");
    }
    Counters::count(&counters.overloaded);
    Refusal::Overloaded
}

/// One hook call that is more than journaled.
struct Work {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    replies: Addr<HookReply>,
    session: Uuid,
    waits: Option<Duration>,
}

impl Work {
    /// Accepts the call. `caller` is closed when the client no longer waits for the outcome.
    async fn run(
        self,
        appended: Acknowledgment,
        next: Next,
        caller: &mut oneshot::Sender<Result<Accepted, Refusal>>,
    ) -> Result<Accepted, Refusal> {
        let session = self.session;
        let appended = match appended {
            Ok(appended) => appended.await.unwrap_or(Err(journal::Error::Closed)),
            Err(error) => Err(error),
        };
        let own = own(&self.shared.counters, session, appended)?;
        let reply = match next {
            Next::Decide { can_reply: true } => {
                let reply = self.answer(session, own.seq, caller).await?;
                let synced = self.shared.synced(own.seq).await;
                synced.map_err(|error| refused(&self.shared.counters, session, &error))?;
                reply
            }
            Next::Decide { can_reply: false } if !own.duplicate => {
                self.decide(session, own.seq, false).await?;
                String::new()
            }
            Next::Greet(stream, beginning) => {
                let greeting = progress::greet(&self.shared, &stream, &beginning, own.seq);
                greeting.await.unwrap_or_default()
            }
            Next::Nothing | Next::Decide { .. } => String::new(),
        };
        Ok(accepted(&self.shared.counters, own, reply))
    }

    async fn answer(
        &self,
        session: Uuid,
        seq: u64,
        caller: &mut oneshot::Sender<Result<Accepted, Refusal>>,
    ) -> Result<String, Refusal> {
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
        // A caller that has gone gets no answer, and the delivery fails (spec DELIV-3).
        tokio::select! {
            reply = answered => Ok(reply.unwrap_or_default()),
            () = caller.closed() => Ok(String::new()),
        }
    }

    async fn decide(&self, session: Uuid, seq: u64, answered: bool) -> Result<(), Refusal> {
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

/// Payloads up to this size, in bytes, are read where they arrive: a thread's handover would take longer.
const INLINE_BYTES_MAX: usize = 16 * 1024;

/// Of payloads over this size, in bytes, one is read at a time.
const LARGE_BYTES: usize = 1024 * 1024;

/// A payload that could not be read, ready to be journaled without its secrets.
pub struct Rejected {
    draft: Draft,
    problem: String,
}

/// Reads a hook call into normal form, with the settings in force. Reading and redacting a larger payload take place on
/// a blocking thread, so no other call waits for them (spec JRNL-20).
///
/// # Errors
///
/// [`Refusal::Payload`] if the agent is unknown or the payload cannot be read; the payload is then journaled as rejected.
/// [`Refusal::Overloaded`] if the journal does not take that.
pub async fn read_call(
    shared: &Shared,
    headers: HookHeaders,
    payload: impl AsRef<[u8]> + Send + 'static,
) -> Result<Normal, Refusal> {
    let config = shared.config();
    let is_small = payload.as_ref().len() <= INLINE_BYTES_MAX;
    let _alone = match payload.as_ref().len() > LARGE_BYTES {
        true => shared.large.acquire().await.ok(),
        false => None,
    };
    let read = move || read(&config, &headers, payload.as_ref());
    let read = match is_small {
        true => read(),
        false => on_blocking_thread(read).await?,
    };
    match read {
        Ok(normal) => Ok(normal),
        Err(rejected) => Err(Refusal::Payload(reject(shared, *rejected).await?)),
    }
}

/// Runs work that would delay all other calls on a blocking thread.
///
/// # Errors
///
/// [`Refusal::Overloaded`] if the daemon ends meanwhile, or the work panics.
pub async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Refusal::Overloaded)
}

/// Reads a hook call into normal form. Takes time in proportion to the payload.
///
/// # Errors
///
/// What to journal if the agent is unknown or the payload cannot be read; see [`reject`].
pub fn read(
    config: &Config,
    headers: &HookHeaders,
    payload: &[u8],
) -> Result<Normal, Box<Rejected>> {
    let reading = Reading {
        prefix: &config.settings.prefix.0,
        payload_bytes_max: payload_bytes_max(config),
        redactor: &config.redactor,
        agents: &config.settings.agents,
    };
    headers
        .with_payload(payload, &config.settings.agents)
        .map_err(|error| error.to_string())
        .and_then(|call| hooks::normalize(&call, reading))
        .map_err(|problem| {
            let event = headers.event.as_deref();
            let rejected =
                Rejected::new(config, &headers.agent, event, payload, headers.id, &problem);
            Box::new(rejected)
        })
}

fn payload_bytes_max(config: &Config) -> usize {
    usize::try_from(config.settings.journal.payload_bytes_max.0).unwrap_or(usize::MAX)
}

impl Rejected {
    /// Makes the event of a payload that could not be read. Takes time in proportion to the payload.
    pub fn new(
        config: &Config,
        agent: &str,
        hook: Option<&str>,
        payload: &[u8],
        id: Uuid,
        problem: &str,
    ) -> Self {
        // Its format is unknown, so all of it is searched for secrets.
        let clean = |text: &str| config.redactor.text(text).into_owned();
        let event = Event::PayloadRejected {
            claimed_agent: clean(agent),
            hook: hook.map(clean),
            problem: clean(problem),
        };
        let text = clean(&String::from_utf8_lossy(payload));
        let raw = hooks::keep_payload(&text, payload_bytes_max(config));
        let draft = Draft {
            payload: Some(raw),
            id,
            ..daemon_draft(event, "")
        };
        Self {
            draft,
            problem: problem.to_owned(),
        }
    }
}

/// Journals a payload that could not be read; returns the problem.
///
/// # Errors
///
/// [`Refusal::Overloaded`] if the journal does not take it: the caller must keep the payload.
pub async fn reject(shared: &Shared, rejected: Rejected) -> Result<String, Refusal> {
    Counters::count(&shared.counters.rejected);
    let Rejected { draft, problem } = rejected;
    if let Event::PayloadRejected {
        claimed_agent,
        hook,
        problem,
    } = &draft.event
    {
        let bytes = draft.payload.as_ref().map_or(0, String::len);
        tracing::warn!(
            agent = claimed_agent,
            hook,
            bytes,
            problem,
            "Could not read a hook payload."
        );
    }
    shared.append(vec![draft]).await.map_err(|error| {
        tracing::warn!(%error, "Could not journal a rejected payload.");
        Refusal::Overloaded
    })?;
    Ok(problem)
}
