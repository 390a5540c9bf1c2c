//! Typing checkpoints into agents' terminals: one at a time per pane, never twice, and only where it does no harm
//! (spec DELIV-7 to DELIV-14).
//!
//! `checkpoint::terminal` chooses each step; this actor observes the terminal, journals the step, and carries it out,
//! in this order. Every step is in the journal before it is carried out, so a restarted daemon knows the last step.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::agents::adapter;
use checkpoint::agents::adapter::HandOver;
use checkpoint::config::CodexDelivery;
use checkpoint::state::{Delivery, SessionState};
use checkpoint::terminal::{self, Seen, Situation, Step};
use journal::{Event, Reason, Route, Stream, Timestamp};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::Pane;
use super::terminal::{Observation, Terminal};
use crate::draft::derived;
use crate::environment;
use crate::process::{self, Failure};
use crate::session_state;
use crate::shared::Shared;
use crate::transcripts;

/// The shortest pause between two observations of a terminal.
const OBSERVE_EVERY_MIN: Duration = Duration::from_millis(20);
/// The longest pause between two observations while a change is expected soon.
const OBSERVE_EVERY_MAX: Duration = Duration::from_millis(250);
/// The longest pause between two observations while an obstacle holds the delivery.
const HELD_OBSERVE_EVERY: Duration = Duration::from_secs(1);
/// How often the transcript is read for our text.
const TRANSCRIPT_EVERY: Duration = Duration::from_millis(700);

type Locks = HashMap<Pane, Arc<Mutex<()>>>;

/// The actor that types checkpoints.
pub struct TmuxDelivery {
    shared: Arc<Shared>,
    /// Decisions that are being delivered.
    under_way: HashSet<u64>,
    panes: Locks,
}

impl TmuxDelivery {
    /// Creates the actor; no delivery is under way.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            under_way: HashSet::new(),
            panes: HashMap::new(),
        }
    }

    /// Returns the lock of a pane; only its holder types there.
    fn lock(&mut self, pane: &Pane) -> Arc<Mutex<()>> {
        // Drop locks that only this map still references.
        self.panes.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(self.panes.entry(pane.clone()).or_default())
    }
}

impl Actor for TmuxDelivery {
    type Context = Context<Self>;
}

/// Asks for the delivery of a checkpoint, or for the rest of a delivery that an earlier daemon began.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Deliver {
    /// The session to deliver to.
    pub stream: Stream,
    /// Sequence number of the decision.
    pub decision: u64,
}

impl Handler<Deliver> for TmuxDelivery {
    type Result = ();

    fn handle(&mut self, deliver: Deliver, ctx: &mut Self::Context) {
        let Deliver { stream, decision } = deliver;
        if !self.under_way.insert(decision) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let work = Work::begin(shared, &stream, decision).map(|work| {
            let lock = work.terminal.pane.as_ref().map(|pane| self.lock(pane));
            // A task of its own, so a panic ends only this delivery. The session asks for it again.
            actix::spawn(work.run(lock))
        });
        let done = async move {
            match work {
                Ok(work) => match work.await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::error!(session = %stream.session, decision, %error, "Could not journal a delivery.");
                    }
                    Err(error) => {
                        tracing::error!(session = %stream.session, decision, %error, "A delivery died; it will be resumed.");
                    }
                },
                Err(error) => {
                    tracing::error!(session = %stream.session, decision, %error, "Could not read a delivery.");
                }
            }
        };
        let forget = move |(), actor: &mut Self, _: &mut Self::Context| {
            actor.under_way.remove(&decision);
        };
        ctx.spawn(done.into_actor(self).map(forget));
    }
}

struct Work {
    shared: Arc<Shared>,
    state: SessionState,
    decision: u64,
    terminal: Terminal,
    /// The agent was restarted, and may not have reported its new process yet.
    after_restart: bool,
    /// The last observation, and the time of the first one that was equal.
    seen: Option<(Seen, Timestamp)>,
    /// Obstacles that are journaled already.
    held: HashSet<&'static str>,
    read_transcript_at: Timestamp,
}

impl Work {
    fn begin(shared: Arc<Shared>, stream: &Stream, decision: u64) -> journal::Result<Self> {
        let state = shared.load(stream)?;
        let (text, after_restart) = match shared.journal.event(decision)? {
            Some(journal::Envelope {
                event: Event::Decided(decided),
                ..
            }) => (
                decided.message.unwrap_or_default(),
                decided.reason == Reason::Restart,
            ),
            _ => (String::new(), false),
        };
        // A background process without a terminal reports the tmux variables that it inherited from another one.
        let is_own = after_restart || state.place.env("CHECKPOINTD_TERMINAL_PID") != Some("0");
        let pane =
            Pane::of_env(state.place.env("TMUX"), state.place.env("TMUX_PANE")).filter(|_| is_own);
        Ok(Self {
            shared,
            state,
            decision,
            terminal: Terminal {
                agent: stream.agent,
                pane,
                text,
            },
            after_restart,
            seen: None,
            held: HashSet::new(),
            read_transcript_at: Timestamp::default(),
        })
    }

    /// Carries out steps until the delivery ends.
    async fn run(mut self, lock: Option<Arc<Mutex<()>>>) -> journal::Result<()> {
        if let Some(command) = self.command() {
            return self.run_queue(command).await;
        }
        let Some(lock) = lock else {
            return self
                .append(Event::DeliveryFailed {
                    decision: self.decision,
                    reason: "no_terminal".into(),
                })
                .await;
        };
        let _held = lock.lock().await;
        loop {
            let Some(delivery) = self.open_delivery().await? else {
                return Ok(());
            };
            let observed = self.observe(&delivery).await;
            let step = self.next_step(&delivery, &observed);
            tracing::debug!(decision = self.decision, seen = ?observed.seen, ?step, "Next step of a delivery.");
            if self.carry_out(step, &delivery, &observed).await? {
                return Ok(());
            }
            tokio::time::sleep(self.pause_after(step)).await;
        }
    }

    /// Returns the agent's own command that delivers the text, if the text is not to be typed.
    fn command(&self) -> Option<HandOver> {
        let hand_over = adapter(self.terminal.agent)?.hand_over?;
        let is_queued = self.shared.config().settings.codex.delivery == CodexDelivery::Queue;
        let native = self.state.stream.native();
        is_queued.then(|| hand_over(&self.state.place, &native, &self.terminal.text))
    }

    /// Passes the text to the agent's own queue, once, and waits until it is confirmed.
    async fn run_queue(mut self, command: HandOver) -> journal::Result<()> {
        loop {
            let Some(delivery) = self.open_delivery().await? else {
                return Ok(());
            };
            if delivery.typed.attempts == 0 {
                // Both in one group: after a crash it is unknown whether the queue has the text, so it is not queued again.
                let attempted = Event::DeliveryAttempted {
                    decision: self.decision,
                    route: Route::Tmux,
                    attempt: 1,
                };
                let entered = Event::DeliveryEntered {
                    decision: self.decision,
                    count: 1,
                };
                self.append_all(vec![attempted, entered]).await?;
                let session = self.state.session();
                let command = command.clone();
                let queued = tokio::task::spawn_blocking(move || hand_over(session, command)).await;
                if let Some(reason) = queued.unwrap_or(Some("queue_failed")) {
                    return self
                        .end(Event::DeliveryFailed {
                            decision: self.decision,
                            reason: reason.into(),
                        })
                        .await;
                }
                continue;
            }
            let observed = Observation::nothing();
            let step = self.next_step(&delivery, &observed);
            if self.carry_out(step, &delivery, &observed).await? {
                return Ok(());
            }
            tokio::time::sleep(OBSERVE_EVERY_MAX).await;
        }
    }

    /// Catches up with the journal and the transcript. Returns the delivery while it is open.
    async fn open_delivery(&mut self) -> journal::Result<Option<Delivery>> {
        self.shared.settle().await?;
        session_state::catch_up(&self.shared.journal, &mut self.state)?;
        let is_open =
            |delivery: &Delivery| delivery.decision == self.decision && delivery.seen_by.is_none();
        let Some(delivery) = self.state.delivery.clone().filter(is_open) else {
            return Ok(None);
        };
        let now = Timestamp::now();
        if delivery.typed.attempts == 0 || now < self.read_transcript_at.plus(TRANSCRIPT_EVERY) {
            return Ok(Some(delivery));
        }
        self.read_transcript_at = now;
        let config = self.shared.config();
        let state = self.state.clone();
        let since = delivery.at;
        let read = move || transcripts::own_prompt(&config, &state, since);
        match tokio::task::spawn_blocking(read).await.ok().flatten() {
            Some(found) => {
                self.shared.append_and_settle(vec![found]).await?;
                Ok(None)
            }
            None => Ok(Some(delivery)),
        }
    }

    async fn observe(&mut self, delivery: &Delivery) -> Observation {
        let known = delivery.typed.pid.or_else(|| self.reported_pid());
        let terminal = self.terminal.clone();
        let within = self.send_timeout();
        let observed = tokio::task::spawn_blocking(move || terminal.observe(known, within)).await;
        let observed = observed.unwrap_or_else(|_| Observation::nothing());
        if self.seen.is_none_or(|(seen, _)| seen != observed.seen) {
            self.seen = Some((observed.seen, Timestamp::now()));
        }
        observed
    }

    /// Returns the agent's process that the last hook call reported.
    fn reported_pid(&self) -> Option<u32> {
        let reported = |name| self.state.place.env(name)?.parse().ok();
        let pid = adapter(self.terminal.agent)
            .and_then(|agent| reported(agent.variables.pid?))
            .or_else(|| reported("CHECKPOINTD_TERMINAL_PID"));
        pid.filter(|_| !self.after_restart)
    }

    fn next_step(&self, delivery: &Delivery, observed: &Observation) -> Step {
        let now = Timestamp::now();
        terminal::next(&Situation {
            typed: &delivery.typed,
            seen: observed.seen,
            decided_at: delivery.at,
            since: self.seen.map_or(now, |(_, since)| since),
            now,
            asks: self.state.dialog_up,
            running: self.state.running,
            is_said: observed.shows_text,
            would_tell: self.state.prompts_by_hook || transcripts::of(&self.state).is_some(),
            bounds: self.shared.config().settings.tmux.bounds(),
        })
    }

    /// Carries out a step; returns whether it was the last one.
    async fn carry_out(
        &mut self,
        step: Step,
        delivery: &Delivery,
        observed: &Observation,
    ) -> journal::Result<bool> {
        let decision = self.decision;
        match step {
            Step::Wait(None) => {}
            Step::Wait(Some(word)) => {
                if self.held.insert(word) {
                    tracing::info!(decision, obstacle = word, "A checkpoint waits.");
                    let obstacle = word.into();
                    self.append(Event::DeliveryHeld { decision, obstacle })
                        .await?;
                }
            }
            Step::Clear => self.press(observed, "C-u").await,
            Step::Paste => self.paste(delivery.typed.attempts + 1, observed).await?,
            Step::NotePasted => {
                self.append_pasted(delivery.typed.attempts, observed.pid)
                    .await?;
            }
            Step::Enter => {
                let count = delivery.typed.enters + 1;
                self.append(Event::DeliveryEntered { decision, count })
                    .await?;
                let submit = adapter(self.terminal.agent)
                    .map_or("Enter", |agent| (agent.submit)(&self.terminal.text));
                self.press(observed, submit).await;
            }
            Step::Fail(reason) => {
                let reason = reason.into();
                self.end(Event::DeliveryFailed { decision, reason }).await?;
                return Ok(true);
            }
            Step::Expire(reason) => {
                let reason = reason.into();
                self.end(Event::DeliveryExpired { decision, reason })
                    .await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn paste(&mut self, attempt: u32, observed: &Observation) -> journal::Result<()> {
        let decision = self.decision;
        self.append(Event::DeliveryAttempted {
            decision,
            route: Route::Tmux,
            attempt,
        })
        .await?;
        let terminal = self.terminal.clone();
        let pane = observed.pane.clone();
        let within = self.send_timeout();
        let paste = move || terminal.paste(pane.as_ref(), decision, attempt, within);
        if tokio::task::spawn_blocking(paste).await.unwrap_or(false) {
            self.append_pasted(attempt, observed.pid).await?;
        } else {
            // tmux may paste only now, so the last observation says nothing about the result.
            self.seen = None;
        }
        Ok(())
    }

    async fn append_pasted(&self, attempt: u32, pid: Option<u32>) -> journal::Result<()> {
        self.append(Event::DeliveryPasted {
            decision: self.decision,
            attempt,
            pid,
        })
        .await
    }

    async fn press(&self, observed: &Observation, key: &'static str) {
        let terminal = self.terminal.clone();
        let pane = observed.pane.clone();
        let within = self.send_timeout();
        let press = move || terminal.press(pane.as_ref(), key, within);
        let _ = tokio::task::spawn_blocking(press).await;
    }

    fn send_timeout(&self) -> Duration {
        self.shared.config().settings.tmux.send_timeout.0
    }

    fn pause_after(&self, step: Step) -> Duration {
        let bounds = self.shared.config().settings.tmux.bounds();
        let soon = (bounds.settle / 4).clamp(OBSERVE_EVERY_MIN, OBSERVE_EVERY_MAX);
        match step {
            Step::Wait(Some(_)) => (bounds.draft_wait / 8).clamp(soon, HELD_OBSERVE_EVERY),
            _ => soon,
        }
    }

    async fn end(&self, event: Event) -> journal::Result<()> {
        if let Event::DeliveryFailed { reason, .. } | Event::DeliveryExpired { reason, .. } = &event
        {
            tracing::warn!(session = %self.state.session(), decision = self.decision, reason, "A checkpoint was not confirmed.");
        }
        self.append(event).await
    }

    async fn append(&self, event: Event) -> journal::Result<()> {
        self.append_all(vec![event]).await
    }

    async fn append_all(&self, events: Vec<Event>) -> journal::Result<()> {
        let now = Timestamp::now();
        let drafts = events.into_iter().map(|event| {
            let cause = match &event {
                Event::DeliveryHeld { obstacle, .. } => format!("{}:{obstacle}", self.decision),
                Event::DeliveryAttempted { attempt, .. }
                | Event::DeliveryPasted { attempt, .. } => {
                    format!("{}:{attempt}", self.decision)
                }
                Event::DeliveryEntered { count, .. } => {
                    let attempts = self
                        .state
                        .delivery
                        .as_ref()
                        .map_or(0, |delivery| delivery.typed.attempts);
                    format!("{}:{attempts}:{count}", self.decision)
                }
                _ => self.decision.to_string(),
            };
            derived(&self.state.stream, now, event, &cause)
        });
        self.shared
            .append_and_settle(drafts.collect())
            .await
            .map(drop)
    }
}

/// The longest that an agent's own command may take.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(15);

/// Runs the command. Returns the reason word if that failed.
fn hand_over(session: Uuid, by: HandOver) -> Option<&'static str> {
    let HandOver {
        program, missing, ..
    } = by;
    let Some(mut command) = environment::tool(program) else {
        return Some(missing);
    };
    command.args(by.arguments).envs(by.env);
    match process::feed(command, &[], Instant::now() + HAND_OVER_WITHIN) {
        Ok(output) if output.is_good() => None,
        Ok(output) => {
            let complaint = output.complaint();
            tracing::warn!(%session, program, complaint, "The agent's command refused a checkpoint.");
            Some("queue_refused")
        }
        Err(Failure::Missing) => Some(missing),
        // The message may be in the queue all the same.
        Err(Failure::Timeout) => None,
        Err(Failure::System(error)) => {
            tracing::warn!(%session, program, %error, "Could not run the agent's command.");
            Some("queue_failed")
        }
    }
}
