//! Typing checkpoints, simulated in memory: one agent in a pane that a person types into too, a tmux that may be slow,
//! and a daemon that may die between any two of its actions.
//!
//! Real: normal form, fold, decision, replay, and every step of `checkpoint::terminal`. Modeled: the journal (a list),
//! the pane, and the loop that observes, journals and types (`actors/src/tmux/delivery.rs` in short).

mod act;
mod daemon;

use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;
use std::time::Duration;

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::decide::{self, Case};
use checkpoint::hooks::{self, HookCall, Reading};
use checkpoint::replay::Replayer;
use checkpoint::state::SessionState;
use checkpoint::terminal::{Bounds, Draft as DraftRule, Seen};
use journal::{Draft, Envelope, Event, Evidence, Route, Timestamp};
use uuid::Uuid;

pub(crate) use act::{Act, draw};

use crate::agents::Session;
use crate::pane::Pane;
use crate::plan::Hook;
use crate::rules::{Broken, Rules};

/// When a run begins, in microseconds.
const BEGAN: i64 = 1_800_000_000_000_000;
/// The longest that a hook call is under way while the daemon lives.
const HOOK_LATE: Duration = Duration::from_secs(10);
/// The longest time that an agent takes to draw an unrecorded paste: less than twice `tmux.settle`.
const UNSURE_LAG_MAX: Duration = Duration::from_millis(1_150);
/// Index of the session that is Codex's: its `notify` is answered by typing.
const CODEX: usize = 2;

struct World {
    rules: Rules,
    known: HashSet<Uuid>,
    /// What the daemon has in memory: the session, and what it saw last, since when.
    live: SessionState,
    seen: Option<(Seen, Timestamp)>,
    policy: &'static Policy,
    bounds: Bounds,
    now: Timestamp,
    session: Session,
    hooks: VecDeque<(Timestamp, String)>,
    calls: u64,
    pane: Pane,
    decision: u64,
    text: String,
    /// What the daemon still does before it dies, and whether its last append is there then.
    fuel: Option<(u32, bool)>,
}

/// Runs a plan. Returns what became of the checkpoint; or the act that broke a rule, and how.
pub(crate) fn run(clears: bool, acts: &[Act]) -> Result<String, (usize, Broken)> {
    let mut world = World::with_a_checkpoint(clears).map_err(|broken| (0, broken))?;
    for (index, act) in acts.iter().enumerate() {
        world.perform(*act).map_err(|broken| (index, broken))?;
    }
    world
        .come_to_an_end()
        .map_err(|broken| (acts.len(), broken))
}

/// The defaults, resolved.
static DEFAULTS: LazyLock<(Policy, Bounds)> = LazyLock::new(|| {
    let config = Config::default();
    (
        actors::evidence::default_policy(&config),
        config.settings.tmux.bounds(),
    )
});

impl World {
    /// Begins with a checkpoint that is to be typed.
    fn with_a_checkpoint(clears: bool) -> Result<Self, Broken> {
        let (policy, bounds) = &*DEFAULTS;
        let draft = if clears {
            DraftRule::Clear
        } else {
            DraftRule::Wait
        };
        let session = Session::new(0, CODEX);
        let mut world = Self {
            rules: Rules::new(1, 0, Replayer::default()),
            known: HashSet::new(),
            live: SessionState::new(session.stream()),
            seen: None,
            bounds: Bounds { draft, ..*bounds },
            policy,
            now: Timestamp::from_micros(BEGAN),
            session,
            hooks: VecDeque::new(),
            calls: 0,
            pane: Pane::default(),
            decision: 0,
            text: String::new(),
            fuel: None,
        };
        let (fingerprint, text) = world.policy.to_text();
        let adopted = Event::PolicyAdopted { fingerprint, text };
        world.journal(Draft {
            stream: journal::Stream::daemon(),
            at: world.now,
            id: Uuid::from_u128(1),
            event: adopted,
            payload: None,
        })?;
        world.call(Hook::Person);
        world.now = world.now.plus(Duration::from_secs(60));
        world.call(Hook::Notify);
        world.hooks_arrive(Duration::ZERO)?;
        let stop = world.live.pending.first().cloned().ok_or("no stop waits")?;
        let evidence = Evidence::default();
        let case = Case {
            state: &world.live,
            stop: &stop,
            evidence: &evidence,
            policy: world.policy,
            fingerprint,
        };
        let decision = decide::decide(&case);
        if decision.route != Some(Route::Tmux) {
            return Err(format!("nothing is typed: {}", decision.reason.word()));
        }
        world.text = decision.message.clone().unwrap_or_default();
        world.derive(
            Event::EvidenceGathered {
                trigger: stop.seq,
                evidence: Box::new(evidence),
            },
            "1",
        )?;
        world.derive(Event::Decided(Box::new(decision)), "1")?;
        world.decision = world.rules.last_seq();
        world.pane.expect(&world.text);
        world.pane.is(world.now);
        Ok(world)
    }

    fn perform(&mut self, act: Act) -> Result<(), Broken> {
        match act {
            Act::Step => return self.step(),
            Act::Die { after, written } => self.fuel = Some((after, written)),
            Act::Wait { millis } => return self.wait(Duration::from_millis(millis)),
            Act::Hooks => return self.hooks_arrive(Duration::ZERO),
            Act::Types => self.pane.types(),
            Act::Clears => self.pane.clears(),
            Act::Enters => self.pane.enters(),
            Act::Dialog(up) => self.pane.dialog = up,
            Act::CopyMode(on) => self.pane.copy_mode = on,
            Act::Other(runs) => self.pane.other = runs,
            Act::Gone => self.pane.gone = true,
            Act::FallsAsleep => self.pane.falls_asleep = true,
            Act::Wakes => {
                self.pane.lag = self.pane.lag.min(UNSURE_LAG_MAX);
                self.pane.wakes()?;
            }
            Act::Overlooks => self.pane.overlooks = true,
            Act::Lags { millis } => self.pane.lag = Duration::from_millis(millis),
            Act::Scrolls => self.pane.scrolls(),
            Act::Asks(asks) => self.call(if asks { Hook::Permission } else { Hook::Tool }),
        }
        self.prompts_are_told();
        Ok(())
    }

    fn wait(&mut self, time: Duration) -> Result<(), Broken> {
        self.now = self.now.plus(time);
        self.pane.is(self.now);
        self.hooks_arrive(HOOK_LATE)
    }

    /// The agent reports the prompts that it received.
    fn prompts_are_told(&mut self) {
        for prompt in self.pane.take_told() {
            let hook = if prompt == self.text {
                Hook::Own
            } else {
                Hook::Person
            };
            self.call(hook);
        }
    }

    fn call(&mut self, hook: Hook) {
        self.calls += 1;
        let payload = self.session.payload(hook, self.calls, &self.policy.prefix);
        self.hooks.push_back((self.now, payload));
    }

    /// Takes in the hook calls that were made at least that long ago.
    fn hooks_arrive(&mut self, ago: Duration) -> Result<(), Broken> {
        while let Some((at, payload)) = self
            .hooks
            .pop_front_if(|(at, _)| self.now.since(*at) >= ago)
        {
            let call = HookCall {
                agent: self.session.agent,
                event: None,
                payload: payload.as_bytes(),
                at,
                id: Uuid::new_v5(&Uuid::NAMESPACE_OID, payload.as_bytes()),
                env: Vec::new(),
                truncated: false,
            };
            let redactor = checkpoint::redact::built_in();
            let reading = Reading {
                prefix: &self.policy.prefix,
                payload_bytes_max: 1024,
                redactor,
                agents: checkpoint::config::DescribedAgents::NONE,
            };
            self.journal(hooks::normalize(&call, reading)?.draft)?;
        }
        Ok(())
    }

    /// Appends, once for each id.
    fn journal(&mut self, draft: Draft) -> Result<(), Broken> {
        if !self.known.insert(draft.id) {
            return Ok(());
        }
        let Draft {
            stream,
            at,
            id,
            event,
            ..
        } = draft;
        let own = stream == self.live.stream;
        let envelope = Envelope {
            seq: self.rules.last_seq() + 1,
            stream,
            at,
            recorded_at: self.now,
            id,
            late: false,
            event,
            origin: None,
        };
        if own {
            self.live.apply(&envelope);
        }
        self.rules.feed(envelope)
    }

    fn derive(&mut self, event: Event, cause: &str) -> Result<(), Broken> {
        let stream = self.live.stream.clone();
        let name = format!("{}:{cause}", event.kind());
        let id = Uuid::new_v5(&stream.session, name.as_bytes());
        self.journal(Draft {
            stream,
            at: self.now,
            id,
            event,
            payload: None,
        })
    }

    /// Whatever stands there, the delivery is over within its bounds, and was it once.
    fn come_to_an_end(&mut self) -> Result<String, Broken> {
        let least = self.bounds.hold_for * 2 + self.bounds.confirm_timeout;
        let until = self.now.plus(least + HOOK_LATE);
        while self.live.delivery.is_some() && self.now < until {
            self.step()?;
            self.wait(Duration::from_secs(5))?;
        }
        let outcomes = self
            .rules
            .events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::DeliveryConfirmed { by, .. } => Some(format!("confirmed by {by}")),
                Event::DeliveryFailed { reason, .. } => Some(format!("failed: {reason}")),
                Event::DeliveryExpired { reason, .. } => Some(format!("expired: {reason}")),
                _ => None,
            });
        let mut outcomes: Vec<_> = outcomes.collect();
        match outcomes.len() {
            1 => Ok(outcomes.remove(0)),
            0 => Err(format!("it is still under way: {:?}", self.live.delivery)),
            _ => Err(format!("it ended more than once: {outcomes:?}")),
        }
    }
}
