//! The real actors on a paused clock: they live in one thread, and go on only as far as they are let.

mod acts;
mod checks;

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::{Actor, Addr, System};
use actors::hook_reply::HookReply;
use actors::ingest::Ingest;
use actors::registry::{EventsAppended, GetStateOf, SessionRegistry};
use actors::session::Routes;
use actors::tmux::TmuxDelivery;
use actors::{Shared, recovery, spool};
use checkpoint::config::Config;
use journal::Timestamp;
use uuid::Uuid;

use crate::agents::{Call, Session};
use crate::gates::{Gates, Idle, all_is_journaled};
use crate::place::Place;
use crate::plan::{Act, SESSIONS, Setup};
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
                // One thread, so that blocking work is done in the order of the requests.
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
            // Drafts on their way to the journal when the daemon died are written, without acknowledgment.
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
        let shared = Arc::clone(&daemon.shared);
        let ingest = daemon.ingest.clone();
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
            left => Err(format!("calls stay in the spool: {left:?}")),
        }
    }

    /// Lets everything take one step: the actors look once at what they have got, and the threads do what they were asked.
    async fn round(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.let_threads_work(daemon).map(drop)
    }

    /// Serves everything that waits for the journal or for a thread. Returns whether sessions were poked.
    fn let_threads_work(&mut self, daemon: &Daemon) -> Result<bool, Broken> {
        // An answer must depend on events in the journal, not on events that are still being written.
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
}
