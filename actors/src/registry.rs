//! The registry of session actors: starts an actor from the journal when its session gets a message, replaces actors
//! that died, and passivates the least recently used.
//!
//! The registry supervises by replay. actix's own supervisor does not restart an actor that panicked, and keeps the
//! old state of one that stopped.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::dev::ToEnvelope;
use actix::prelude::*;
use checkpoint::SessionState;
use journal::{Agent, Stream};
use uuid::Uuid;

use crate::Shared;
use crate::hook_reply::Release;
use crate::session::{
    CatchUp, Decide, Examine, GetState, Leaving, Passivate, Routes, Session, StopActor,
};
use crate::shared::Counters;

/// A session whose actor dies more often than this within [`DEATHS_WITHIN`] is parked: its stops pass.
const DEATHS_MAX: usize = 5;
const DEATHS_WITHIN: Duration = Duration::from_secs(60);
/// Threads that session actors run on.
const ARBITERS: usize = 2;

struct Entry {
    address: Addr<Session>,
    used: Instant,
}

/// The actor that finds, starts and supervises the session actors.
pub struct SessionRegistry {
    shared: Arc<Shared>,
    routes: Routes,
    awake: HashMap<Uuid, Entry>,
    /// When actors of a session died lately.
    deaths: HashMap<Uuid, Vec<Instant>>,
    /// Empty if all sessions run on the registry's own thread.
    arbiters: Vec<Arbiter>,
    started: usize,
}

impl SessionRegistry {
    /// Creates a registry that runs its sessions on threads of their own.
    pub fn new(shared: Arc<Shared>, routes: Routes) -> Self {
        let arbiters = (0..ARBITERS).map(|_| Arbiter::new()).collect();
        Self {
            arbiters,
            ..Self::on_this_thread(shared, routes)
        }
    }

    /// Creates a registry that runs its sessions on its own thread, so that simulations need only one clock.
    pub fn on_this_thread(shared: Arc<Shared>, routes: Routes) -> Self {
        Self {
            shared,
            routes,
            awake: HashMap::new(),
            deaths: HashMap::new(),
            arbiters: Vec::new(),
            started: 0,
        }
    }

    /// Returns the session's actor. Replays the session first if it has none.
    fn wake(&mut self, session: Uuid, ctx: &mut Context<Self>) -> Option<Addr<Session>> {
        if let Some(entry) = self.awake.get_mut(&session) {
            if entry.address.connected() {
                entry.used = Instant::now();
                return Some(entry.address.clone());
            }
            self.awake.remove(&session);
            self.count_death(session);
        }
        if self.is_parked(session) {
            return None;
        }
        let stream = self.shared.journal.session(session)?.stream;
        if stream.agent == Agent::Daemon {
            return None;
        }
        self.make_room();
        let actor = match Session::replay(
            Arc::clone(&self.shared),
            self.routes.clone(),
            ctx.address().recipient(),
            &stream,
        ) {
            Ok(actor) => actor,
            Err(error) => {
                tracing::error!(%session, %error, "Could not replay the session.");
                return None;
            }
        };
        let address = match self.arbiters.get(self.started % self.arbiters.len().max(1)) {
            Some(arbiter) => Session::start_in_arbiter(&arbiter.handle(), move |_| actor),
            None => actor.start(),
        };
        self.started += 1;
        self.awake.insert(
            session,
            Entry {
                address: address.clone(),
                used: Instant::now(),
            },
        );
        Some(address)
    }

    /// Counts a death: an actor that passivates says so first, so a closed address means a panic.
    fn count_death(&mut self, session: Uuid) {
        Counters::count(&self.shared.counters.restarted);
        let deaths = self.deaths.entry(session).or_default();
        deaths.retain(|death| death.elapsed() <= DEATHS_WITHIN);
        deaths.push(Instant::now());
        let deaths = deaths.len();
        if deaths <= DEATHS_MAX {
            tracing::warn!(%session, deaths, "The session's actor died; replaying it.");
        } else {
            tracing::error!(%session, deaths, "The session's actor keeps dying; its stops pass for the next minute.");
        }
    }

    /// Returns whether the session's actor died too often lately.
    fn is_parked(&self, session: Uuid) -> bool {
        let deaths = self.deaths.get(&session).into_iter().flatten();
        let lately = deaths.filter(|death| death.elapsed() <= DEATHS_WITHIN);
        lately.count() > DEATHS_MAX
    }

    /// Asks the least recently used session to passivate if too many are awake.
    fn make_room(&mut self) {
        let awake_max = self
            .shared
            .config()
            .settings
            .daemon
            .sessions_awake_max
            .get();
        if self.awake.len() < awake_max {
            return;
        }
        if let Some(entry) = self.awake.values().min_by_key(|entry| entry.used) {
            let _ = entry.address.try_send(Passivate);
        }
    }

    /// Sends a message to a session, waking it if necessary. Returns false, and drops the message, if the session is
    /// overloaded or parked.
    fn send<M>(&mut self, session: Uuid, message: M, ctx: &mut Context<Self>) -> bool
    where
        M: Message + Clone + Send + 'static,
        M::Result: Send,
        Session: Handler<M>,
        Context<Session>: ToEnvelope<Session, M>,
    {
        // The second try is for an actor that died or stopped after `wake` returned it.
        for _ in 0..2 {
            let Some(address) = self.wake(session, ctx) else {
                return false;
            };
            match address.try_send(message.clone()) {
                Ok(()) => return true,
                Err(SendError::Full(_)) => return false,
                Err(SendError::Closed(_)) => {}
            }
        }
        false
    }

    fn decide(&mut self, session: Uuid, decide: Decide, ctx: &mut Context<Self>) {
        if !self.send(session, decide, ctx) {
            tracing::warn!(%session, seq = decide.seq, "The session is overloaded or parked; its agent stops normally.");
            self.routes.replies.do_send(Release {
                session,
                seq: decide.seq,
            });
        }
    }
}

impl Actor for SessionRegistry {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        for arbiter in &self.arbiters {
            let _ = arbiter.stop();
        }
    }
}

/// Events were appended to these sessions, which now have to catch up.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EventsAppended(pub Vec<Uuid>);

impl Handler<EventsAppended> for SessionRegistry {
    type Result = ();

    fn handle(&mut self, appended: EventsAppended, ctx: &mut Self::Context) {
        for session in appended.0 {
            // A session with a full mailbox catches up anyway.
            let _ = self.send(session, CatchUp, ctx);
        }
    }
}

/// Passes [`Decide`] on to a session.
#[derive(Message)]
#[rtype(result = "()")]
pub struct DecideIn {
    /// The session that stopped.
    pub session: Uuid,
    /// The stop to decide about.
    pub decide: Decide,
}

impl Handler<DecideIn> for SessionRegistry {
    type Result = ();

    fn handle(&mut self, DecideIn { session, decide }: DecideIn, ctx: &mut Self::Context) {
        self.decide(session, decide, ctx);
    }
}

impl Handler<Leaving> for SessionRegistry {
    type Result = ();

    fn handle(&mut self, leaving: Leaving, ctx: &mut Self::Context) {
        match leaving {
            // Removed first: messages that were sent before arrive before the stop.
            Leaving::Passivated(session) => {
                if let Some(entry) = self.awake.remove(&session) {
                    entry.address.do_send(StopActor);
                }
            }
            Leaving::Late(session, stops) => {
                let _ = self.send(session, CatchUp, ctx);
                for decide in stops {
                    self.decide(session, decide, ctx);
                }
            }
        }
    }
}

/// Asks for a session's state; `None` if the journal does not have the session.
#[derive(Message)]
#[rtype(result = "Option<Box<SessionState>>")]
pub struct GetStateOf(pub Stream);

impl Handler<GetStateOf> for SessionRegistry {
    type Result = ResponseFuture<Option<Box<SessionState>>>;

    fn handle(&mut self, GetStateOf(stream): GetStateOf, ctx: &mut Self::Context) -> Self::Result {
        let address = self.wake(stream.session, ctx);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let state = match address {
                Some(address) => address.send(GetState).await.ok(),
                None => None,
            };
            // An actor that stopped or died meanwhile knew nothing that the journal does not.
            let replayed = || {
                let entry = shared.journal.session(stream.session)?;
                shared.load(&entry.stream).ok().map(Box::new)
            };
            state.or_else(replayed)
        })
    }
}

/// Asks for an answer once it is in the journal on which contents a person's own runs ran (spec EVID-22).
#[derive(Message)]
#[rtype(result = "()")]
pub struct ExamineOwnRuns;

impl Handler<ExamineOwnRuns> for SessionRegistry {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: ExamineOwnRuns, ctx: &mut Self::Context) -> Self::Result {
        let sessions = self.shared.journal.sessions().into_iter();
        let streams = sessions.map(|entry| entry.stream);
        let persons = streams.filter(|stream| stream.agent == Agent::person());
        let sent: Vec<_> = persons
            .filter_map(|stream| Some(self.wake(stream.session, ctx)?.send(Examine)))
            .collect();
        Box::pin(async move {
            for examined in sent {
                let _ = examined.await;
            }
        })
    }
}

/// Asks for the number of sessions that have an actor.
#[derive(Message)]
#[rtype(result = "usize")]
pub struct CountAwake;

impl Handler<CountAwake> for SessionRegistry {
    type Result = usize;

    fn handle(&mut self, _: CountAwake, _: &mut Self::Context) -> usize {
        self.awake.len()
    }
}

/// Makes a session's actor panic.
#[cfg(test)]
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Kill(pub(crate) Uuid);

#[cfg(test)]
impl Handler<Kill> for SessionRegistry {
    type Result = ();

    fn handle(&mut self, kill: Kill, ctx: &mut Self::Context) {
        let _ = self.send(kill.0, crate::tests::Panic, ctx);
    }
}
