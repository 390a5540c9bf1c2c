//! The actor of one session: catches up with the journal, decides about stops, and settles deliveries.
//!
//! It holds nothing that the journal does not: when it dies, another one replays and continues. Every event that it
//! appends has an id made from its cause, so no decision and no outcome can be journaled twice.

mod decision;
mod delivery;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::state::SessionState;
use journal::{Reason, Stream, Timestamp};
use uuid::Uuid;

use crate::beginning;
use crate::draft::derived;
use crate::examine::Examining;
use crate::hook_reply::HookReply;
use crate::restart;
use crate::session_state;
use crate::shared::Shared;
use crate::tmux::TmuxDelivery;

/// How often a session checks whether it is idle, and whether a delivery has expired.
const TICK: Duration = Duration::from_secs(5);
/// How long after a decision a snapshot is kept.
const SNAPSHOT_AFTER: Duration = Duration::from_secs(1);

/// The delivery actors that a session hands its decisions to.
#[derive(Clone)]
pub struct Routes {
    /// Answers waiting hook calls.
    pub replies: Addr<HookReply>,
    /// Types into terminals.
    pub tmux: Addr<TmuxDelivery>,
}

/// The actor of one session.
pub struct Session {
    shared: Arc<Shared>,
    routes: Routes,
    registry: Recipient<Leaving>,
    state: SessionState,
    /// Stops to decide about, oldest first.
    stops: VecDeque<Decide>,
    /// A decision is being made, or an outcome is being appended.
    busy: bool,
    /// The decision that was last handed to the terminal's delivery actor.
    handed_over: Option<u64>,
    /// The turn whose beginning was last recorded.
    begun: Option<Timestamp>,
    /// The restart for which a timer runs: its sequence number, and when its checkpoint is due.
    watched_restart: Option<(u64, Timestamp)>,
    /// The registry was asked to remove this actor. What comes until it has is for the next one: two actors of a session
    /// must not decide at once.
    leaving: bool,
    /// Events were appended since then.
    missed: bool,
    examining: Arc<Examining>,
    /// Calls are being examined.
    examines: bool,
    used: Instant,
}

impl Session {
    /// Brings a session up from the journal.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn replay(
        shared: Arc<Shared>,
        routes: Routes,
        registry: Recipient<Leaving>,
        stream: &Stream,
    ) -> journal::Result<Self> {
        let state = shared.load(stream)?;
        Ok(Self {
            shared,
            routes,
            registry,
            state,
            stops: VecDeque::new(),
            busy: false,
            handed_over: None,
            begun: None,
            watched_restart: None,
            leaving: false,
            missed: false,
            examining: Arc::default(),
            examines: false,
            used: Instant::now(),
        })
    }

    fn catch_up(&mut self) {
        self.shared.catch_up(&mut self.state);
    }

    /// Keeps a snapshot of the state. Without one, the next replay only takes longer.
    fn save_snapshot(&self) {
        if let Err(error) = session_state::save(&self.shared.journal, &self.state) {
            tracing::warn!(session = %self.state.session(), %error, "Could not keep a snapshot.");
        }
    }

    /// Keeps a snapshot once the agent has its answer, and the disk what it says.
    fn save_snapshot_later(&self, ctx: &mut Context<Self>) {
        ctx.run_later(SNAPSHOT_AFTER, |session, _| session.save_snapshot());
    }

    /// Settles the open delivery and decides about the queued stops, one at a time.
    fn advance(&mut self, ctx: &mut Context<Self>) {
        if self.busy {
            return;
        }
        self.settle_delivery(ctx);
        while !self.busy {
            let Some(Decide { seq, answered }) = self.stops.pop_front() else {
                return;
            };
            let stop = self
                .state
                .pending
                .iter()
                .find(|stop| stop.seq == seq)
                .cloned();
            match stop.or_else(|| self.state.restart_stop(seq)) {
                // With `exits: off`, no agent waits until its work may leave.
                Some(stop) if answered || !stop.can_reply || stop.leaves.is_some() => {
                    self.gather(stop, ctx);
                }
                Some(stop) => self.decide_unanswered(&stop, Reason::NobodyWaiting, ctx),
                None => self.answer_again(seq),
            }
        }
    }

    /// Journals the state of the work tree when the turn began: where HEAD was, and for `scope: turn` which files had
    /// already changed. No caller waits for it.
    fn look_at_beginning(&mut self, ctx: &mut Context<Self>) {
        let fresh = self.state.fresh_turn(Timestamp::now());
        let Some(turn_at) = fresh.filter(|turn_at| self.begun != Some(*turn_at)) else {
            return;
        };
        self.begun = Some(turn_at);
        let shared = Arc::clone(&self.shared);
        let state = self.state.clone();
        let work = async move {
            let stream = state.stream.clone();
            let project = state.project().to_owned();
            let take =
                move |shared: &Shared| beginning::seen(&shared.config(), &shared.trust(), &state);
            let seen = shared.beside(shared.look_at(&project, take)).await;
            let cause = turn_at.as_micros();
            let draft = |(at, event)| derived(&stream, at, event, cause);
            let drafts: Vec<_> = seen.unwrap_or_default().into_iter().map(draft).collect();
            if drafts.is_empty() {
                return;
            }
            if let Err(error) = shared.append_and_settle(drafts).await {
                tracing::warn!(session = %stream.session, %error, "Could not journal how the turn began.");
            }
        };
        ctx.spawn(
            work.into_actor(self)
                .map(|(), session, _| session.catch_up()),
        );
    }

    /// Examines the calls that have ended, one after the other.
    fn examine(&mut self, ctx: &mut Context<Self>) {
        if self.examines || !self.examining.has_next(&self.state) {
            return;
        }
        self.examines = true;
        let (shared, state) = (Arc::clone(&self.shared), self.state.clone());
        let examining = Arc::clone(&self.examining);
        let work = async move { shared.beside(examining.work(&shared, state)).await };
        ctx.spawn(work.into_actor(self).map(|_, session, ctx| {
            session.examines = false;
            session.catch_up();
            session.examine(ctx);
        }));
    }

    /// Starts a timer for the checkpoint after a restart (spec RESTART-2). Without a terminal to type into, that checkpoint
    /// waits for the next stop.
    fn watch_restart(&mut self, ctx: &mut Context<Self>) {
        let Some((seq, due)) = self
            .state
            .restart
            .filter(|restart| self.watched_restart != Some(*restart))
        else {
            return;
        };
        self.watched_restart = Some((seq, due));
        ctx.run_later(due.since(Timestamp::now()), move |session, ctx| {
            session.catch_up();
            if session.state.restart == Some((seq, due))
                && restart::pane_of(&session.state.place).is_some()
            {
                session.stops.push_back(Decide {
                    seq,
                    answered: false,
                });
                session.advance(ctx);
            }
        });
    }

    /// Returns whether the actor has work left for which no message would wake the session again.
    fn has_work_left(&self) -> bool {
        self.busy
            || self.examines
            || !self.stops.is_empty()
            || self
                .state
                .restart
                .is_some_and(|(_, due)| due > Timestamp::now())
    }

    fn tick(&mut self, ctx: &mut Context<Self>) {
        if self.leaving {
            return;
        }
        self.catch_up();
        self.watch_restart(ctx);
        // The delivery may have died; handing the decision over again is harmless.
        self.handed_over = None;
        self.advance(ctx);
        let idle = self.shared.config().settings.daemon.session_idle.0;
        let is_idle = || self.state.delivery.is_none() && self.used.elapsed() >= idle;
        if !self.has_work_left() && is_idle() {
            self.passivate();
        }
    }

    /// Asks the registry to remove this actor, once.
    fn passivate(&mut self) {
        if std::mem::replace(&mut self.leaving, true) {
            return;
        }
        self.save_snapshot();
        self.registry
            .do_send(Leaving::Passivated(self.state.session()));
    }
}

impl Actor for Session {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
        ctx.run_interval(TICK, Self::tick);
    }
}

/// Events were appended to the session. Losing one of these messages is harmless: the next one catches up with all.
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct CatchUp;

impl Handler<CatchUp> for Session {
    type Result = ();

    fn handle(&mut self, _: CatchUp, ctx: &mut Self::Context) {
        if self.leaving {
            self.missed = true;
            return;
        }
        self.used = Instant::now();
        self.catch_up();
        self.look_at_beginning(ctx);
        self.examine(ctx);
        self.watch_restart(ctx);
        self.advance(ctx);
    }
}

/// Asks for a decision about a stop that is in the journal.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Decide {
    /// Sequence number of the stop.
    pub seq: u64,
    /// Whether a hook call waits for the answer.
    pub answered: bool,
}

impl Handler<Decide> for Session {
    type Result = ();

    fn handle(&mut self, decide: Decide, ctx: &mut Self::Context) {
        self.stops.push_back(decide);
        if self.leaving {
            return;
        }
        self.used = Instant::now();
        self.catch_up();
        self.advance(ctx);
    }
}

/// Asks the session to leave memory, if it has no work left.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Passivate;

impl Handler<Passivate> for Session {
    type Result = ();

    fn handle(&mut self, _: Passivate, _: &mut Self::Context) {
        if !self.has_work_left() {
            self.passivate();
        }
    }
}

/// What an actor that leaves memory tells the registry.
#[derive(Message)]
#[rtype(result = "()")]
pub enum Leaving {
    /// The session's actor wants to stop. The registry removes it and answers with [`StopActor`].
    Passivated(Uuid),
    /// These stops came too late for the actor, or only news of events: the session's next actor takes them.
    Late(Uuid, Vec<Decide>),
}

/// The registry has removed this actor and sends it nothing after this.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StopActor;

impl Handler<StopActor> for Session {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Self::Context) {
        if self.missed || !self.stops.is_empty() {
            let stops = self.stops.drain(..).collect();
            self.registry
                .do_send(Leaving::Late(self.state.session(), stops));
        }
        ctx.stop();
    }
}

/// Asks for an answer once the calls that ended are examined.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Examine;

impl Handler<Examine> for Session {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Examine, _: &mut Self::Context) -> Self::Result {
        self.catch_up();
        let (shared, state) = (Arc::clone(&self.shared), self.state.clone());
        let examining = Arc::clone(&self.examining);
        Box::pin(async move { drop(examining.work_in_time(&shared, state).await) })
    }
}

/// Asks for the session's state.
#[derive(Message)]
#[rtype(result = "Box<SessionState>")]
pub struct GetState;

impl Handler<GetState> for Session {
    type Result = MessageResult<GetState>;

    fn handle(&mut self, _: GetState, _: &mut Self::Context) -> Self::Result {
        self.catch_up();
        MessageResult(Box::new(self.state.clone()))
    }
}
