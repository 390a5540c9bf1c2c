//! The registry: which session has which actor. Starts them from the journal, starts those again that died, and lets
//! the quiet ones go.
//!
//! actix's own supervisor does not restart an actor that panicked and would keep the old state of one that stopped, so
//! supervision is here, and it is by replay.

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
use crate::routes::Routes;
use crate::session::{Decide, Leave, Look, Poke, Retire, Retired, Session};
use crate::shared::Counters;

/// A session that dies this often within [`DEATHS_WITHIN`] is parked: its stops pass.
const DEATHS_MAX: u32 = 5;
const DEATHS_WITHIN: Duration = Duration::from_secs(60);
/// Threads that session actors run on.
const ARBITERS: usize = 2;

struct Entry {
    address: Addr<Session>,
    used: Instant,
}

/// When a session began to die, and how often it has since.
struct Deaths {
    since: Instant,
    count: u32,
}

/// The registry of session actors.
pub struct Sessions {
    shared: Arc<Shared>,
    routes: Routes,
    awake: HashMap<Uuid, Entry>,
    deaths: HashMap<Uuid, Deaths>,
    /// None: all run on the registry's own thread.
    arbiters: Vec<Arbiter>,
    started: usize,
}

impl Sessions {
    /// Begins with all sessions asleep.
    pub fn new(shared: Arc<Shared>, routes: Routes) -> Self {
        let arbiters = (0..ARBITERS).map(|_| Arbiter::new()).collect();
        Self {
            arbiters,
            ..Self::on_this_thread(shared, routes)
        }
    }

    /// Begins with all sessions asleep, and runs them on the registry's own thread, so that one clock is everybody's.
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

    /// Returns the session's actor, replaying the session where it has none.
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
                tracing::error!(%session, %error, "Could not replay a session.");
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

    /// Counts a death. A session retires by telling so first; one whose address merely closed has panicked.
    fn count_death(&mut self, session: Uuid) {
        Counters::count(&self.shared.counters.restarted);
        let now = Instant::now();
        let deaths = self.deaths.entry(session).or_insert(Deaths {
            since: now,
            count: 0,
        });
        if deaths.since.elapsed() > DEATHS_WITHIN {
            *deaths = Deaths {
                since: now,
                count: 0,
            };
        }
        deaths.count += 1;
        let deaths = deaths.count;
        if deaths <= DEATHS_MAX {
            tracing::warn!(%session, deaths, "A session's actor died and is replayed.");
        } else {
            tracing::error!(%session, deaths, "A session's actor keeps dying; its stops pass until it has rested.");
        }
    }

    /// Tells whether a session has died too often of late.
    fn is_parked(&self, session: Uuid) -> bool {
        let deaths = self
            .deaths
            .get(&session)
            .filter(|deaths| deaths.since.elapsed() <= DEATHS_WITHIN);
        deaths.is_some_and(|deaths| deaths.count > DEATHS_MAX)
    }

    /// Asks the session that was quiet for longest to leave when there are too many.
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
            let _ = entry.address.try_send(Retire);
        }
    }

    /// Sends to a session, waking it. Gives the message up where the session is overloaded, or keeps dying.
    fn send<M>(&mut self, session: Uuid, message: M, ctx: &mut Context<Self>) -> bool
    where
        M: Message + Clone + Send + 'static,
        M::Result: Send,
        Session: Handler<M>,
        Context<Session>: ToEnvelope<Session, M>,
    {
        // The second try is for an actor that died or left between the look and the send.
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
}

impl Actor for Sessions {
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

/// Events were appended to these sessions.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Appended(pub Vec<Uuid>);

impl Handler<Appended> for Sessions {
    type Result = ();

    fn handle(&mut self, appended: Appended, ctx: &mut Self::Context) {
        for session in appended.0 {
            // A full mailbox means that the session will catch up anyway.
            let _ = self.send(session, PokeNow, ctx);
        }
    }
}

/// A [`Poke`] that can be sent twice.
#[derive(Clone, Message)]
#[rtype(result = "()")]
struct PokeNow;

impl Handler<PokeNow> for Session {
    type Result = ();

    fn handle(&mut self, _: PokeNow, ctx: &mut Self::Context) {
        <Self as Handler<Poke>>::handle(self, Poke, ctx);
    }
}

/// Decide about a session's stop.
#[derive(Message)]
#[rtype(result = "()")]
pub struct DecideIn {
    /// The session.
    pub session: Uuid,
    /// What to decide about.
    pub decide: Decide,
}

impl Handler<DecideIn> for Sessions {
    type Result = ();

    fn handle(&mut self, order: DecideIn, ctx: &mut Self::Context) {
        let DecideIn { session, decide } = order;
        if !self.send(session, decide, ctx) {
            tracing::warn!(%session, seq = decide.seq, "A session takes no more; its agent stops normally.");
            self.routes.replies.do_send(Release {
                session,
                seq: decide.seq,
            });
        }
    }
}

impl Handler<Retired> for Sessions {
    type Result = ();

    fn handle(&mut self, retired: Retired, _: &mut Self::Context) {
        if let Some(entry) = self.awake.remove(&retired.session) {
            entry.address.do_send(Leave);
        }
    }
}

/// Tell what is known of a session; none where there is no such session.
#[derive(Message)]
#[rtype(result = "Option<Box<SessionState>>")]
pub struct LookAt(pub Stream);

impl Handler<LookAt> for Sessions {
    type Result = ResponseFuture<Option<Box<SessionState>>>;

    fn handle(&mut self, look: LookAt, ctx: &mut Self::Context) -> Self::Result {
        let address = self.wake(look.0.session, ctx);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let told = match address {
                Some(address) => address.send(Look).await.ok(),
                None => None,
            };
            // One that left or died in the meantime knew nothing that the journal does not.
            let known = || {
                shared
                    .journal
                    .session(look.0.session)
                    .and_then(|entry| shared.load(&entry.stream).ok())
            };
            told.or_else(|| known().map(Box::new))
        })
    }
}

/// Tell how many sessions are awake.
#[derive(Message)]
#[rtype(result = "usize")]
pub struct CountAwake;

impl Handler<CountAwake> for Sessions {
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
impl Handler<Kill> for Sessions {
    type Result = ();

    fn handle(&mut self, kill: Kill, ctx: &mut Self::Context) {
        let _ = self.send(kill.0, crate::tests::Panic, ctx);
    }
}
