//! Types checkpoints into agents' terminals: one at a time for each pane, never twice, and never where it does harm.
//!
//! What to do next is decided by `checkpoint::terminal`; here it is looked, journaled and done, in this order. Whatever
//! may have been done is in the journal before it is done, so that a daemon that comes up again knows where the last
//! one was.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::agents::adapter;
use checkpoint::agents::adapter::HandOver;
use checkpoint::state::{Delivery, SessionState};
use checkpoint::terminal::{self, Seen, Situation, Step};
use journal::{Event, Reason, Route, Stream, Timestamp};
use tokio::sync::Mutex;

use super::look::{Sight, Subject};
use super::{Pane, queue};
use crate::draft::derived;
use crate::session_state;
use crate::shared::Shared;
use crate::transcripts;

/// The shortest and the longest pause between two looks at a screen on which something is to happen soon.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(250));
/// The longest pause between two looks at something that stands in the way.
const HELD_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a transcript is read for a sign of our text.
const TRANSCRIPT_EVERY: Duration = Duration::from_millis(700);

type Locks = HashMap<Pane, Arc<Mutex<()>>>;

/// The actor that types.
pub struct TmuxDelivery {
    shared: Arc<Shared>,
    /// Decisions whose checkpoints are on their way.
    under_way: HashSet<u64>,
    panes: Locks,
}

impl TmuxDelivery {
    /// Begins with nothing on its way.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            under_way: HashSet::new(),
            panes: HashMap::new(),
        }
    }

    /// Returns the lock of a pane: whoever holds it may type there.
    fn lock(&mut self, pane: &Pane) -> Arc<Mutex<()>> {
        // A lock that nobody else has is free.
        self.panes.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(self.panes.entry(pane.clone()).or_default())
    }
}

impl Actor for TmuxDelivery {
    type Context = Context<Self>;
}

/// A checkpoint is to be typed, or was being typed when the last daemon ended.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Deliver {
    /// The session.
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
            let lock = work.subject.pane.as_ref().map(|pane| self.lock(pane));
            // A task of its own: one that panics takes nothing else along, and the session asks again.
            actix::spawn(work.run(lock))
        });
        let done = async move {
            match work {
                Ok(work) => match work.await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::error!(session = %stream.session, decision, %error, "A delivery could not be journaled.");
                    }
                    Err(error) => {
                        tracing::error!(session = %stream.session, decision, %error, "A delivery died; it is taken up again.");
                    }
                },
                Err(error) => {
                    tracing::error!(session = %stream.session, decision, %error, "A delivery could not be read.");
                }
            }
        };
        let forget = move |(), actor: &mut Self, _: &mut Self::Context| {
            actor.under_way.remove(&decision);
        };
        ctx.spawn(done.into_actor(self).map(forget));
    }
}

/// One delivery on its way.
struct Work {
    shared: Arc<Shared>,
    state: SessionState,
    decision: u64,
    subject: Subject,
    /// The agent was started anew, and may not have told of its new process yet.
    after_restart: bool,
    /// What was seen last, and since when.
    seen: Option<(Seen, Timestamp)>,
    /// What it was said to wait for.
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
        // What calls hooks from the background tells of a terminal that need not be its own.
        let is_own = after_restart || state.place.env("CHECKPOINTD_TERMINAL_PID") != Some("0");
        let pane =
            Pane::of_env(state.place.env("TMUX"), state.place.env("TMUX_PANE")).filter(|_| is_own);
        let subject = Subject {
            agent: stream.agent,
            pane,
            text,
        };
        let (seen, held, read_transcript_at) = (None, HashSet::new(), Timestamp::default());
        Ok(Self {
            shared,
            state,
            decision,
            subject,
            after_restart,
            seen,
            held,
            read_transcript_at,
        })
    }

    /// Takes steps until the delivery is over.
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
            let Some(delivery) = self.look_again().await? else {
                return Ok(());
            };
            let sight = self.look(&delivery).await;
            let step = self.next(&delivery, &sight);
            tracing::debug!(decision = self.decision, seen = ?sight.seen, ?step, "A delivery takes a step.");
            if self.take(step, &delivery, sight).await? {
                return Ok(());
            }
            tokio::time::sleep(self.pause(step)).await;
        }
    }

    /// Returns the agent's own command that delivers the text, if it is not to be typed.
    fn command(&self) -> Option<HandOver> {
        adapter(self.subject.agent)?.hand_over(
            &self.shared.config().settings,
            &self.state.place,
            &self.state.stream.native(),
            &self.subject.text,
        )
    }

    /// Hands the text to the agent's own queue, once, and waits for a sign of it.
    async fn run_queue(mut self, command: HandOver) -> journal::Result<()> {
        loop {
            let Some(delivery) = self.look_again().await? else {
                return Ok(());
            };
            if delivery.typed.attempts == 0 {
                // Both at once: after a crash nobody can tell whether the queue has it, so it is never given it again.
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
                let queued =
                    tokio::task::spawn_blocking(move || queue::hand_over(session, command)).await;
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
            let step = self.next(&delivery, &Sight::nothing());
            if self.take(step, &delivery, Sight::nothing()).await? {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY.1).await;
        }
    }

    /// Catches up with the journal, and with the transcript. Returns the delivery while it is open.
    async fn look_again(&mut self) -> journal::Result<Option<Delivery>> {
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
        let (shared, state, since) = (Arc::clone(&self.shared), self.state.clone(), delivery.at);
        let read = move || transcripts::own_prompt(&shared.config(), &state, since);
        match tokio::task::spawn_blocking(read).await.ok().flatten() {
            Some(found) => {
                self.shared.append_and_settle(vec![found]).await?;
                Ok(None)
            }
            None => Ok(Some(delivery)),
        }
    }

    async fn look(&mut self, delivery: &Delivery) -> Sight {
        let (subject, within) = (self.subject.clone(), self.send_timeout());
        let known = delivery.typed.pid.or_else(|| self.told_pid());
        let sight = tokio::task::spawn_blocking(move || subject.look(known, within)).await;
        let sight = sight.unwrap_or_else(|_| Sight::nothing());
        if self.seen.is_none_or(|(seen, _)| seen != sight.seen) {
            self.seen = Some((sight.seen, Timestamp::now()));
        }
        sight
    }

    /// Returns the agent's process as its last hook call told.
    fn told_pid(&self) -> Option<u32> {
        let told = |name| self.state.place.env(name)?.parse().ok();
        let told = adapter(self.subject.agent)
            .and_then(|agent| told(agent.variables().pid?))
            .or_else(|| told("CHECKPOINTD_TERMINAL_PID"));
        told.filter(|_| !self.after_restart)
    }

    fn next(&self, delivery: &Delivery, sight: &Sight) -> Step {
        let now = Timestamp::now();
        terminal::next(&Situation {
            typed: &delivery.typed,
            seen: sight.seen,
            decided_at: delivery.at,
            since: self.seen.map_or(now, |(_, since)| since),
            now,
            asks: self.state.dialog_up,
            running: self.state.running,
            is_said: sight.shows_text,
            would_tell: self.state.prompts_by_hook || transcripts::of(&self.state).is_some(),
            bounds: self.shared.config().settings.tmux.bounds(),
        })
    }

    /// Does what the step says; tells whether it was the last one.
    async fn take(
        &mut self,
        step: Step,
        delivery: &Delivery,
        sight: Sight,
    ) -> journal::Result<bool> {
        let decision = self.decision;
        let attempt = delivery.typed.attempts;
        match step {
            Step::Wait(None) => {}
            Step::Wait(Some(word)) => {
                if self.held.insert(word) {
                    tracing::info!(decision, obstacle = word, "A checkpoint waits.");
                    self.append(Event::DeliveryHeld {
                        decision,
                        obstacle: word.into(),
                    })
                    .await?;
                }
            }
            Step::Clear => self.press(&sight, "C-u").await,
            Step::Paste => {
                let attempt = attempt + 1;
                self.append(Event::DeliveryAttempted {
                    decision,
                    route: Route::Tmux,
                    attempt,
                })
                .await?;
                let (subject, within) = (self.subject.clone(), self.send_timeout());
                let look = sight.look.clone();
                let paste = move || subject.paste(look.as_ref(), decision, attempt, within);
                if tokio::task::spawn_blocking(paste).await.unwrap_or(false) {
                    self.append(Event::DeliveryPasted {
                        decision,
                        attempt,
                        pid: sight.pid,
                    })
                    .await?;
                } else {
                    // tmux may have pasted only now: the screen from before says nothing of that.
                    self.seen = None;
                }
            }
            Step::NotePasted => {
                self.append(Event::DeliveryPasted {
                    decision,
                    attempt,
                    pid: sight.pid,
                })
                .await?
            }
            Step::Enter => {
                let count = delivery.typed.enters + 1;
                self.append(Event::DeliveryEntered { decision, count })
                    .await?;
                self.press(&sight, "Enter").await;
            }
            Step::Fail(reason) => {
                self.end(Event::DeliveryFailed {
                    decision,
                    reason: reason.into(),
                })
                .await?;
                return Ok(true);
            }
            Step::Expire(reason) => {
                self.end(Event::DeliveryExpired {
                    decision,
                    reason: reason.into(),
                })
                .await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn press(&self, sight: &Sight, key: &'static str) {
        let (subject, look, within) = (
            self.subject.clone(),
            sight.look.clone(),
            self.send_timeout(),
        );
        let press = move || subject.press(look.as_ref(), key, within);
        let _ = tokio::task::spawn_blocking(press).await;
    }

    fn send_timeout(&self) -> Duration {
        Duration::from_millis(self.shared.config().settings.tmux.send_timeout.as_millis())
    }

    fn pause(&self, step: Step) -> Duration {
        let bounds = self.shared.config().settings.tmux.bounds();
        let soon = (bounds.settle / 4).clamp(LOOK_EVERY.0, LOOK_EVERY.1);
        match step {
            Step::Wait(Some(_)) => (bounds.draft_wait / 8).clamp(soon, HELD_LOOK_EVERY),
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
