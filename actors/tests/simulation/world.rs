//! The real actors on a paused clock: they live in one thread, and go on only as far as they are let.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::{Actor, Addr, System};
use actors::hook_headers::HookHeaders;
use actors::hook_reply::HookReply;
use actors::ingest::{self, AcceptHook, Ingest};
use actors::registry::{EventsAppended, GetStateOf, SessionRegistry};
use actors::routes::Routes;
use actors::tmux::TmuxDelivery;
use actors::{Shared, recovery, spool};
use checkpoint::config::Config;
use checkpoint::hooks::{self, Reading};
use journal::{Draft, Event, Timestamp};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::agents::{Call, Session};
use crate::gates::{Gates, Idle, all_is_journaled};
use crate::place::Place;
use crate::plan::{Act, Hook, Order, SESSIONS, Setup};
use crate::rules::{Broken, Rules};

/// How long a hook call waits for the answer to a stop.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// Rounds in which a run must come to rest.
const ROUNDS_MAX: usize = 2_000;
/// What the agents tell begins so long ago that the actors' own times are always later.
const LONG_AGO: Duration = Duration::from_secs(10 * 86_400);

/// A run's world.
pub(crate) struct World<'a> {
    place: &'a Place,
    setup: Setup,
    sessions: Vec<Session>,
    calls: Vec<Call>,
    /// Replies with a checkpoint by their stops.
    replies: HashMap<u64, u32>,
    rules: Rules,
    began: Timestamp,
    now: Duration,
    seed: u64,
    orders: u64,
    pokes: Arc<Mutex<Vec<Uuid>>>,
    poked: usize,
    /// Acts that still find no daemon.
    down: usize,
    idle: Idle,
    /// While a daemon lives.
    gates: Option<Gates>,
    /// The journal's gate, where it stays closed while one daemon follows another.
    held: Option<Sender<()>>,
    config: Config,
}

/// What lives until the daemon dies.
struct Daemon {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    ingest: Addr<Ingest>,
}

/// What a run left: the act that broke a rule, and how; or how it went.
pub(crate) struct Run {
    pub(crate) broken: Option<(usize, Broken)>,
    pub(crate) events: Vec<journal::Envelope>,
}

/// Runs a plan in a place where its seed was not run before.
pub(crate) fn run(place: &Place, seed: u64, setup: &Setup, acts: &[Act]) -> Run {
    let mut world = World::new(place, seed, setup.clone());
    let mut next = 0;
    let mut result = Ok(());
    // The last daemon comes up to settle what is left.
    while result.is_ok() && next <= acts.len() + 1 {
        result = world.live(acts, &mut next);
    }
    let (events, replayer) = world.rules.end();
    place.replayer.replace(replayer);
    Run {
        broken: result.err().map(|broken| (next.min(acts.len()), broken)),
        events,
    }
}

impl<'a> World<'a> {
    fn new(place: &'a Place, seed: u64, setup: Setup) -> Self {
        place.journal.settle().expect("it reads");
        let config =
            Config::load(Some(("config.yml", &setup.config))).expect("a plan's settings are right");
        let rules = Rules::new(
            setup.budget,
            place.journal.last_seq(),
            place.replayer.take(),
        );
        let sessions = (0..SESSIONS)
            .map(|number| Session::new(seed, number))
            .collect();
        let pokes: Arc<Mutex<Vec<Uuid>>> = Arc::default();
        let told = Arc::clone(&pokes);
        place.journal.observe(move |events| {
            let sessions = events.iter().map(|envelope| envelope.stream.session);
            told.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(sessions);
        });
        Self {
            place,
            setup,
            sessions,
            calls: Vec::new(),
            replies: HashMap::new(),
            rules,
            began: Timestamp::now().minus(LONG_AGO),
            now: Duration::ZERO,
            seed,
            orders: 0,
            pokes,
            poked: 0,
            down: 0,
            idle: Idle::default(),
            gates: None,
            held: None,
            config,
        }
    }

    /// Lets a daemon live until it dies of an act, or of the end of all acts.
    fn live(&mut self, acts: &[Act], next: &mut usize) -> Result<(), Broken> {
        while self.down > 0
            && let Some(act) = acts.get(*next)
        {
            self.perform_alone(*act);
            (*next, self.down) = (*next + 1, self.down - 1);
        }
        let idle = self.idle.clone();
        let runtime = move || {
            let idle = idle.clone();
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                // One, so that what is done first is what was asked for first.
                .max_blocking_threads(1)
                .on_thread_park(move || idle.comes())
                .build()
                .expect("a runtime")
        };
        let runner = System::with_tokio_rt(runtime);
        let result = runner.block_on(async {
            let daemon = self.come_up().await?;
            while let Some(act) = acts.get(*next) {
                if let Act::Crash { down, .. } = act {
                    (*next, self.down) = (*next + 1, *down);
                    return Ok(());
                }
                self.perform(&daemon, *act).await?;
                self.check_events()?;
                *next += 1;
            }
            let settled = *next > acts.len();
            *next += 1;
            if settled {
                self.check_the_end(&daemon).await
            } else {
                self.come_to_an_end(&daemon).await
            }
        });
        let gates = self.gates.take();
        // The last one is not to be outlived by what it left.
        let outlived = matches!(
            next.checked_sub(1).and_then(|last| acts.get(last)),
            Some(Act::Crash { outlived: true, .. })
        );
        self.held = gates.and_then(|gates| gates.journal).filter(|_| outlived);
        drop(runner);
        if self.held.is_none() {
            // What was on its way to the journal when the daemon died gets there, and nobody hears of it.
            all_is_journaled(&self.place.journal).map_err(|error| error.to_string())?;
        }
        self.take_outcomes()?;
        result.and_then(|()| self.check_events())
    }

    async fn come_up(&mut self) -> Result<Daemon, Broken> {
        self.gates = Some(Gates::closed(&self.place.journal, self.held.take()));
        let shared = Shared::new(
            self.place.journal.clone(),
            self.place.home.clone(),
            self.config.clone(),
        );
        let shared = Arc::new(shared.map_err(|error| error.to_string())?);
        let replies = HookReply::new(Arc::clone(&shared)).start();
        let tmux = TmuxDelivery::new(Arc::clone(&shared)).start();
        let routes = Routes {
            replies: replies.clone(),
            tmux,
        };
        let sessions = SessionRegistry::on_this_thread(Arc::clone(&shared), routes).start();
        let ingest = Ingest::new(Arc::clone(&shared), sessions.clone(), replies).start();
        let daemon = Daemon {
            shared,
            sessions,
            ingest,
        };
        self.sweep(&daemon).await?;
        recovery::settle(&daemon.shared, &daemon.sessions)
            .await
            .map_err(|error| error.to_string())?;
        Ok(daemon)
    }

    /// Takes in what is in the spool, where anything is.
    async fn sweep(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        let waiting = || spool::list(&self.place.home.spool).expect("it lists");
        if waiting().is_empty() {
            return Ok(());
        }
        let (shared, ingest) = (Arc::clone(&daemon.shared), daemon.ingest.clone());
        let drain = actix::spawn(async move { spool::drain(&shared, &ingest).await });
        self.come_to_rest(daemon).await?;
        if !drain.is_finished() {
            return Err("taking in the spool does not end".into());
        }
        drain
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        match spool::list(&self.place.home.spool).expect("it lists") {
            left if left.is_empty() => Ok(()),
            left => Err(format!("what was spooled stays there: {left:?}")),
        }
    }

    /// A call finds no daemon, or a busy one.
    fn spool(&self, number: usize) {
        let call = &self.calls[number];
        let session = &self.sessions[call.session];
        self.place.spool(
            session.agent,
            call.id,
            call.at,
            &session.env(self.setup.dead_terminals),
            &call.payload,
        );
    }

    /// What the agents do while there is no daemon.
    fn perform_alone(&mut self, act: Act) {
        match act {
            Act::Call {
                session,
                hook,
                late,
                ..
            } => {
                let number = self.make_call(session, hook, late);
                self.spool(number);
            }
            Act::Twin => {
                if let Some(number) = self.make_twin() {
                    self.spool(number);
                }
            }
            Act::Again { back } => {
                if let Some(number) = self.calls.len().checked_sub(back + 1) {
                    self.spool(number);
                }
            }
            Act::Wait { seconds } => self.now += Duration::from_secs(seconds.into()),
            Act::GiveUp { .. }
            | Act::Order { .. }
            | Act::Run { .. }
            | Act::Rest
            | Act::Crash { .. } => {}
        }
    }

    async fn perform(&mut self, daemon: &Daemon, act: Act) -> Result<(), Broken> {
        match act {
            Act::Call {
                session,
                hook,
                late,
                waits,
            } => {
                let number = self.make_call(session, hook, late);
                self.send(daemon, number, waits).await
            }
            Act::Twin => match self.make_twin() {
                Some(number) => self.send(daemon, number, true).await,
                None => Ok(()),
            },
            Act::Again { back } => match self.calls.len().checked_sub(back + 1) {
                Some(number) => self.send(daemon, number, true).await,
                None => Ok(()),
            },
            Act::GiveUp { back } => {
                if let Some(call) = self.calls.iter_mut().rev().nth(back) {
                    (call.outcome, call.until) = (None, None);
                }
                Ok(())
            }
            Act::Order { session, order } => self.order(session, order),
            Act::Run { rounds } => {
                for _ in 0..rounds {
                    self.round(daemon).await?;
                }
                Ok(())
            }
            Act::Rest => self.rest(daemon).await,
            Act::Wait { seconds } => self.wait(daemon, Duration::from_secs(seconds.into())).await,
            Act::Crash { .. } => Ok(()),
        }
    }

    fn blank(&self, number: usize) -> Call {
        let id = Uuid::from_u64_pair(self.seed, number as u64);
        let (payload, at) = (String::new(), self.began);
        Call {
            session: 0,
            hook: Hook::Unknown,
            payload,
            at,
            id,
            outcome: None,
            until: None,
            seq: None,
        }
    }

    fn make_call(&mut self, session: usize, hook: Hook, late: u32) -> usize {
        let number = self.calls.len();
        let payload =
            self.sessions[session].payload(hook, number as u64, &self.config.settings.prefix.0);
        // No two at the same moment: which of them was first would be open.
        self.now += Duration::from_millis(1);
        let at = self
            .began
            .plus(self.now)
            .minus(Duration::from_secs(late.into()));
        self.calls.push(Call {
            session,
            hook,
            payload,
            at,
            ..self.blank(number)
        });
        number
    }

    fn make_twin(&mut self) -> Option<usize> {
        let number = self.calls.len();
        let last = self.calls.last()?;
        let (session, hook, at, payload) = (last.session, last.hook, last.at, last.payload.clone());
        self.calls.push(Call {
            session,
            hook,
            payload,
            at,
            ..self.blank(number)
        });
        Some(number)
    }

    fn headers(&self, number: usize) -> HookHeaders {
        let call = &self.calls[number];
        let session = &self.sessions[call.session];
        HookHeaders {
            agent: session.agent.word().into(),
            event: None,
            at: call.at,
            id: call.id,
            env: session.env(self.setup.dead_terminals),
            truncated: false,
        }
    }

    /// Returns the id of the event that a call becomes: where the host names it, it is not the call's own.
    fn event_id(&self, number: usize) -> Result<Uuid, Broken> {
        let (prefix, redactor) = (&self.config.settings.prefix.0, &self.config.redactor);
        let reading = Reading {
            prefix,
            payload_bytes_max: usize::MAX,
            redactor,
        };
        let headers = self.headers(number);
        let call = headers
            .with_payload(self.calls[number].payload.as_bytes())
            .map_err(|error| error.to_string())?;
        hooks::normalise(&call, reading).map(|normal| normal.draft.id)
    }

    /// Sends a call, for the first time or again. Where nobody waits it is one that came from the spool.
    async fn send(&mut self, daemon: &Daemon, number: usize, waits: bool) -> Result<(), Broken> {
        let headers = self.headers(number);
        let payload = self.calls[number].payload.as_bytes();
        let normal = ingest::read_call(&daemon.shared, &headers, payload).await;
        let normal = normal.map_err(|refusal| format!("call {number} was refused: {refusal:?}"))?;
        let (outcome, taken) = oneshot::channel();
        let within = waits.then_some(STOP_WAIT);
        let take = AcceptHook {
            normal,
            waits: within,
            outcome,
        };
        if daemon.ingest.try_send(take).is_ok() {
            let call = &mut self.calls[number];
            (call.outcome, call.until) = (Some(taken), None);
        } else {
            self.spool(number);
        }
        Ok(())
    }

    fn order(&mut self, session: usize, order: Order) -> Result<(), Broken> {
        let at = self.began.plus(self.now);
        let event = match order {
            Order::Mute => Event::Muted {
                until: Some(at.plus(Duration::from_secs(60))),
            },
            Order::Unmute => Event::Unmuted {},
            Order::Clear => Event::CheckpointCleared {},
            Order::Restart => Event::RestartRequested { due: at },
        };
        self.orders += 1;
        let id = Uuid::from_u64_pair(!self.seed, self.orders);
        let stream = self.sessions[session].stream();
        // It is the sessions that are ordered about, so there has to be one.
        if self.place.journal.session(stream.session).is_some() {
            let draft = Draft {
                stream,
                at,
                id,
                event,
                payload: None,
            };
            self.place
                .journal
                .append(vec![draft], |_| {})
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Lets everything take one step: the actors look once at what they have got, and the threads do what they were asked.
    async fn round(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.let_threads_work(daemon).map(drop)
    }

    /// What waits for the journal or for a thread gets it. Tells whether sessions were poked.
    fn let_threads_work(&mut self, daemon: &Daemon) -> Result<bool, Broken> {
        // What was answered now must rest on what is in the journal now, and not on what is on its way there.
        self.take_outcomes()?;
        self.gates
            .as_mut()
            .expect("a daemon lives")
            .let_through(&self.place.journal);
        let mut pokes =
            std::mem::take(&mut *self.pokes.lock().unwrap_or_else(PoisonError::into_inner));
        pokes.retain(|_| {
            self.poked += 1;
            self.poked.is_multiple_of(self.setup.pokes_kept)
        });
        let any = !pokes.is_empty();
        if any {
            let _ = daemon.sessions.try_send(EventsAppended(pokes));
        }
        Ok(any)
    }

    /// Lets the actors do all that they do without the clock, and then compares what they know with their events.
    async fn rest(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        self.come_to_rest(daemon).await?;
        for state in self.rules.states() {
            let look = GetStateOf(state.stream.clone());
            let live = daemon
                .sessions
                .send(look)
                .await
                .map_err(|error| error.to_string())?;
            if live.as_deref() != Some(state) {
                return Err(format!(
                    "a session is not what its events make of it:\n{live:?}\n{state:?}"
                ));
            }
        }
        Ok(())
    }

    /// Lets actors and threads take turns until neither has anything for the other.
    async fn come_to_rest(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        let mut poked = true;
        for _ in 0..ROUNDS_MAX {
            if !self.idle.come().await && !poked {
                let until = self.now + STOP_WAIT;
                self.calls
                    .iter_mut()
                    .for_each(|call| call.until = call.until.or(Some(until)));
                return self.check_events();
            }
            poked = self.let_threads_work(daemon)?;
        }
        Err(format!(
            "the actors did not come to rest in {ROUNDS_MAX} rounds"
        ))
    }

    async fn wait(&mut self, daemon: &Daemon, time: Duration) -> Result<(), Broken> {
        self.now += time;
        tokio::time::advance(time).await;
        self.come_to_rest(daemon).await?;
        self.sweep(daemon).await?;
        let late = self
            .calls
            .iter()
            .position(|call| call.outcome.is_some() && call.until.is_some_and(|t| t < self.now));
        late.map_or(Ok(()), |number| {
            Err(format!("call {number} has waited for longer than it may"))
        })
    }

    /// Looks at what calls have led to.
    fn take_outcomes(&mut self) -> Result<(), Broken> {
        let (mut replies, mut spooled) = (Vec::new(), Vec::new());
        for (number, call) in self.calls.iter_mut().enumerate() {
            let Some(receiver) = &mut call.outcome else {
                continue;
            };
            match receiver.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => continue,
                Ok(Ok(taken)) => {
                    call.seq = Some(taken.seq);
                    if matches!(call.hook, Hook::Stop { .. }) && !taken.reply.is_empty() {
                        replies.push((call.session, taken));
                    }
                }
                // Refused, or the daemon has died.
                Ok(Err(_)) | Err(oneshot::error::TryRecvError::Closed) => spooled.push(number),
            }
            (call.outcome, call.until) = (None, None);
        }
        spooled.into_iter().for_each(|number| self.spool(number));
        for (session, taken) in replies {
            // What is sent must be in the journal already; nothing is waited for here.
            self.check_events()?;
            let times = self.replies.entry(taken.seq).or_default();
            *times += 1;
            self.rules.may_be_sent(
                self.sessions[session].stream().session,
                taken.seq,
                &taken.reply,
                *times,
            )?;
        }
        Ok(())
    }

    fn check_events(&mut self) -> Result<(), Broken> {
        for envelope in self.place.journal.events_from(self.rules.last_seq() + 1) {
            self.rules
                .feed(envelope.map_err(|error| error.to_string())?)?;
        }
        Ok(())
    }

    /// The spool is taken in, time goes on, the agents end.
    async fn come_to_an_end(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        self.rest(daemon).await?;
        // Whoever gave up has spooled too.
        let unanswered = (0..self.calls.len()).filter(|number| self.calls[*number].seq.is_none());
        unanswered.for_each(|number| self.spool(number));
        self.sweep(daemon).await?;
        self.wait(daemon, STOP_WAIT * 2).await?;
        self.rest(daemon).await?;
        self.check_calls()?;
        for session in 0..SESSIONS {
            let number = self.make_call(session, Hook::End, 0);
            self.send(daemon, number, false).await?;
            self.come_to_rest(daemon).await?;
        }
        self.rest(daemon).await
    }

    /// Every call is an event of its session: the one that was acknowledged; or where it came through the spool, one with
    /// its id or its twin's.
    fn check_calls(&self) -> Result<(), Broken> {
        let by_id: HashMap<_, _> = self
            .rules
            .events
            .iter()
            .map(|envelope| (envelope.id, envelope))
            .collect();
        let by_seq: HashMap<_, _> = self
            .rules
            .events
            .iter()
            .map(|envelope| (envelope.seq, envelope))
            .collect();
        for (number, call) in self.calls.iter().enumerate() {
            let event = match call.seq {
                Some(seq) => by_seq.get(&seq),
                None => {
                    let same = (0..self.calls.len())
                        .filter(|other| self.calls[*other].payload == call.payload);
                    let ids = same
                        .map(|other| self.event_id(other))
                        .collect::<Result<Vec<_>, _>>()?;
                    ids.iter().find_map(|id| by_id.get(id))
                }
            };
            let Some(event) = event else {
                return Err(format!("call {number} was never taken in"));
            };
            if event.stream != self.sessions[call.session].stream() {
                return Err(format!(
                    "call {number} was acknowledged as event {}, which is another one",
                    event.seq
                ));
            }
        }
        Ok(())
    }

    /// Another daemon has come up: whatever was promised is kept, or given up.
    async fn check_the_end(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        for _ in 0..2 {
            self.wait(daemon, STOP_WAIT).await?;
        }
        self.rest(daemon).await?;
        for state in self.rules.states() {
            // One that nobody waited for when the daemon died is not decided about: its agent has stopped.
            if state.pending.iter().any(|stop| stop.can_reply) || state.delivery.is_some() {
                let (pending, delivery) = (&state.pending, &state.delivery);
                return Err(format!(
                    "at the end there are open stops {pending:?}, or a delivery {delivery:?}"
                ));
            }
        }
        Ok(())
    }
}
