//! One session: catches up with the journal, decides about stops, and settles deliveries.
//!
//! It holds nothing that the journal does not: when it dies, another one replays and goes on. All that it appends has
//! an id made from its cause, so that no decision and no outcome can be journaled twice.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::decide::{self, Case};
use checkpoint::state::{SessionState, Stop};
use journal::{Decision, Event, Evidence, Route, Stream, Timestamp};
use uuid::Uuid;

use crate::draft::derived;
use crate::evidence::{self, Gathered};
use crate::hook_reply;
use crate::restart;
use crate::routes::Routes;
use crate::session_state;
use crate::shared::Shared;
use crate::tmux::Deliver;
use crate::transcripts;

/// How often a session looks whether it is idle, and whether a delivery has expired.
const TICK: Duration = Duration::from_secs(5);

/// The actor of one session.
pub struct Session {
    shared: Arc<Shared>,
    routes: Routes,
    registry: Recipient<Passivated>,
    state: SessionState,
    /// Stops to decide about, and whether somebody waits for the answer.
    stops: VecDeque<(u64, bool)>,
    /// A decision is being made, or an outcome appended.
    busy: bool,
    /// The decision that was last handed to the one who types.
    handed_over: Option<u64>,
    /// The turn that a baseline was last asked for.
    baseline_of: Option<Timestamp>,
    /// The restart whose time is waited for.
    watched_restart: Option<(u64, Timestamp)>,
    /// The registry has forgotten this actor.
    leaves: bool,
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
        registry: Recipient<Passivated>,
        stream: &Stream,
    ) -> journal::Result<Self> {
        let state = shared.load(stream)?;
        let (stops, used) = (VecDeque::new(), Instant::now());
        let (busy, handed_over, baseline_of, watched_restart, leaves) =
            (false, None, None, None, false);
        Ok(Self {
            shared,
            routes,
            registry,
            state,
            stops,
            busy,
            handed_over,
            baseline_of,
            watched_restart,
            leaves,
            used,
        })
    }

    fn catch_up(&mut self) {
        if let Err(error) = session_state::catch_up(&self.shared.journal, &mut self.state) {
            tracing::error!(session = %self.state.session(), %error, "Could not read a session's events.");
        }
    }

    /// Does the next thing there is to do, one at a time.
    fn advance(&mut self, ctx: &mut Context<Self>) {
        if self.busy {
            return;
        }
        self.settle_delivery(ctx);
        while !self.busy {
            let Some((seq, answered)) = self.stops.pop_front() else {
                return;
            };
            let stop = self
                .state
                .pending
                .iter()
                .find(|stop| stop.seq == seq)
                .cloned();
            match stop.or_else(|| self.state.restart_stop(seq)) {
                Some(stop) if answered || !stop.can_reply => self.gather(stop, ctx),
                Some(stop) => self.decide_unanswered(&stop, ctx),
                None => self.answer_again(seq),
            }
        }
    }

    /// Notes what has changed before a turn that has just begun, for `scope: turn`. Nothing waits for it.
    fn take_baseline(&mut self, ctx: &mut Context<Self>) {
        let fresh = self.state.fresh_turn(Timestamp::now());
        let Some(turn_at) = fresh.filter(|turn_at| self.baseline_of != Some(*turn_at)) else {
            return;
        };
        self.baseline_of = Some(turn_at);
        let (shared, state) = (Arc::clone(&self.shared), self.state.clone());
        let work = async move {
            let slot = Arc::clone(&shared.gathering).acquire_owned().await;
            let (config, stream) = (shared.config(), state.stream.clone());
            let taken = tokio::task::spawn_blocking(move || evidence::baseline(&config, &state))
                .await
                .ok()
                .flatten();
            drop(slot);
            let Some(event) = taken else { return };
            let draft = derived(
                &stream,
                Timestamp::now(),
                event,
                &turn_at.as_micros().to_string(),
            );
            if let Err(error) = shared.append_and_settle(vec![draft]).await {
                tracing::warn!(session = %stream.session, %error, "Could not journal a turn's baseline.");
            }
        };
        ctx.spawn(
            work.into_actor(self)
                .map(|(), session, _| session.catch_up()),
        );
    }

    /// Looks up what the decision needs, off this thread, and then decides.
    fn gather(&mut self, stop: Stop, ctx: &mut Context<Self>) {
        self.busy = true;
        let (shared, state) = (Arc::clone(&self.shared), self.state.clone());
        let about = stop.clone();
        let work = async move {
            let _slot = Arc::clone(&shared.gathering).acquire_owned().await;
            let state = if about.can_reply || about.restart {
                state
            } else {
                find_prompts(&shared, state).await
            };
            tokio::task::spawn_blocking(move || evidence::gather(&shared.config(), &state, &about))
                .await
        };
        ctx.spawn(work.into_actor(self).map(move |gathered, session, ctx| {
            session.busy = false;
            session.catch_up();
            match gathered {
                Ok(gathered) => session.decide(&stop, gathered, ctx),
                Err(error) => {
                    tracing::error!(session = %session.state.session(), %error, "Gathering evidence failed.");
                    session.decide_unanswered(&stop, ctx);
                }
            }
            session.advance(ctx);
        }));
    }

    fn decide(&mut self, stop: &Stop, gathered: Gathered, ctx: &mut Context<Self>) {
        let Gathered { evidence, policy } = gathered;
        let (fingerprint, adoption) = self.shared.adopt(&policy);
        let case = Case {
            state: &self.state,
            stop,
            evidence: &evidence,
            policy: &policy,
            fingerprint,
        };
        let decision = decide::decide(&case);
        self.append_decision(stop, decision, Some(evidence), adoption, ctx);
    }

    fn decide_unanswered(&mut self, stop: &Stop, ctx: &mut Context<Self>) {
        let (policy, evidence) = (
            evidence::default_policy(&self.shared.config()),
            Evidence::default(),
        );
        let (fingerprint, adoption) = self.shared.adopt(&policy);
        let case = Case {
            state: &self.state,
            stop,
            evidence: &evidence,
            policy: &policy,
            fingerprint,
        };
        let decision = decide::pass_unanswered(&case);
        self.append_decision(stop, decision, None, adoption, ctx);
    }

    /// Appends all that belongs to a decision as one group, applies it, and only then publishes it.
    fn append_decision(
        &mut self,
        stop: &Stop,
        decision: Decision,
        evidence: Option<Evidence>,
        adoption: Option<journal::Draft>,
        ctx: &mut Context<Self>,
    ) {
        let (stream, cause) = (self.state.stream.clone(), stop.seq.to_string());
        let fingerprint = decision.policy;
        let mut drafts: Vec<_> = adoption.into_iter().collect();
        if let Some(evidence) = evidence {
            if decision.reason == journal::Reason::EscapeHatch {
                let by = if evidence.escape_marker {
                    "marker"
                } else {
                    "command"
                };
                drafts.push(derived(
                    &stream,
                    stop.at,
                    Event::EscapeHatchUsed { by: by.into() },
                    &cause,
                ));
            }
            let event = Event::EvidenceGathered {
                trigger: stop.seq,
                evidence: Box::new(evidence),
            };
            drafts.push(derived(&stream, stop.at, event, &cause));
        }
        if let Some(restart) = self.state.restart_due(stop.at)
            && stop.can_reply
            && decision.reason != journal::Reason::Overloaded
        {
            let event = Event::RestartClosed {
                restart,
                reason: "at_next_stop".into(),
            };
            drafts.push(derived(&stream, stop.at, event, &restart.to_string()));
        }
        if let Some(open) = self
            .state
            .delivery
            .as_ref()
            .filter(|_| decision.route.is_some())
        {
            let event = Event::DeliveryExpired {
                decision: open.decision,
                reason: "superseded".into(),
            };
            drafts.push(derived(&stream, stop.at, event, &open.decision.to_string()));
        }
        drafts.push(derived(
            &stream,
            stop.at,
            Event::Decided(Box::new(decision.clone())),
            &cause,
        ));
        self.busy = true;
        let shared = Arc::clone(&self.shared);
        let work = async move { shared.append_and_settle(drafts).await };
        ctx.spawn(work.into_actor(self).map(move |appended, session, ctx| {
            session.busy = false;
            session.catch_up();
            match appended {
                Ok(appended) => {
                    session.shared.adopted(fingerprint);
                    match appended.last() {
                        // An actor before this one had decided already, maybe otherwise: what is journaled counts.
                        Some(own) if own.duplicate => session.answer_again(decision.trigger),
                        Some(own) => session.publish(own.seq, decision, 1),
                        None => {}
                    }
                    if let Err(error) = session_state::save(&session.shared.journal, &session.state) {
                        tracing::warn!(session = %session.state.session(), %error, "Could not keep a snapshot.");
                    }
                }
                Err(error) => {
                    tracing::error!(session = %session.state.session(), %error, "Could not journal a decision; the agent stops normally.");
                    session.release(decision.trigger);
                }
            }
            session.advance(ctx);
        }));
    }

    fn publish(&self, seq: u64, decision: Decision, attempt: u32) {
        let (reason, verdict) = (decision.reason.word(), decision.verdict);
        tracing::info!(session = %self.state.session(), seq, %verdict, reason, "Decided about a stop.");
        let stream = self.state.stream.clone();
        let decided = hook_reply::Decided {
            stream,
            seq,
            at: Timestamp::now(),
            decision: Box::new(decision),
            attempt,
        };
        // One a decision: this queue grows no faster than agents stop.
        self.routes.replies.do_send(decided);
    }

    /// Gives a checkpoint to the one who types; it knows by itself whether that has begun.
    fn hand_over(&mut self, decision: u64) {
        if self.handed_over.replace(decision) != Some(decision) {
            self.routes.tmux.do_send(Deliver {
                stream: self.state.stream.clone(),
                decision,
            });
        }
    }

    /// A hook call that was cut off came again after its stop was decided: it gets the same answer, while that is open.
    fn answer_again(&self, trigger: u64) {
        let open = self
            .state
            .delivery
            .as_ref()
            .map(|delivery| delivery.decision);
        let decided = open.and_then(|seq| self.shared.journal.event(seq).ok().flatten());
        if let Some(journal::Envelope {
            seq,
            event: Event::Decided(decision),
            ..
        }) = decided
            && decision.trigger == trigger
        {
            self.publish(seq, *decision, 2);
            return;
        }
        self.release(trigger);
    }

    /// Lets a hook call go that waits for the answer to a stop.
    fn release(&self, trigger: u64) {
        self.routes.replies.do_send(hook_reply::Release {
            session: self.state.session(),
            seq: trigger,
        });
    }

    /// Journals what became of a delivery once that is known.
    fn settle_delivery(&mut self, ctx: &mut Context<Self>) {
        let Some(delivery) = &self.state.delivery else {
            return;
        };
        let timeout =
            Duration::from_millis(self.shared.config().settings.confirm_timeout.as_millis());
        let typed = delivery.route == Route::Tmux;
        let (decision, cause) = (delivery.decision, delivery.decision.to_string());
        let event = if let Some(by) = &delivery.seen_by {
            Event::DeliveryConfirmed {
                decision,
                by: by.clone(),
            }
        } else if self
            .state
            .ended_at
            .is_some_and(|ended| !typed || ended >= delivery.at)
        {
            // An agent that is being restarted has ended before.
            Event::DeliveryExpired {
                decision,
                reason: "session_ended".into(),
            }
        } else if typed {
            self.hand_over(decision);
            return;
        } else if Timestamp::now() > delivery.at.plus(timeout) {
            Event::DeliveryExpired {
                decision,
                reason: "confirm_timeout".into(),
            }
        } else {
            return;
        };
        self.busy = true;
        let draft = derived(&self.state.stream, Timestamp::now(), event, &cause);
        let shared = Arc::clone(&self.shared);
        let work = async move { shared.append_and_settle(vec![draft]).await };
        ctx.spawn(work.into_actor(self).map(|appended, session, ctx| {
            session.busy = false;
            session.catch_up();
            match appended {
                Ok(_) => session.advance(ctx),
                Err(error) => {
                    tracing::error!(session = %session.state.session(), %error, "Could not journal a delivery's outcome.");
                }
            }
        }));
    }

    /// Sees to it that the checkpoint after a restart is decided about when it is due (001 inv 8). Where there is no
    /// terminal to type into, it waits for the next stop.
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
                session.stops.push_back((seq, false));
                session.advance(ctx);
            }
        });
    }

    /// Tells whether something is to be done later that nothing outside would wake the session for.
    fn has_plans(&self) -> bool {
        self.busy
            || !self.stops.is_empty()
            || self
                .state
                .restart
                .is_some_and(|(_, due)| due > Timestamp::now())
    }

    fn tick(&mut self, ctx: &mut Context<Self>) {
        self.catch_up();
        self.watch_restart(ctx);
        // Whoever typed may have died.
        self.handed_over = None;
        self.advance(ctx);
        let idle = Duration::from_millis(
            self.shared
                .config()
                .settings
                .daemon
                .session_idle
                .as_millis(),
        );
        if self.leaves {
            self.leave(ctx);
        } else if !self.has_plans() && self.state.delivery.is_none() && self.used.elapsed() >= idle
        {
            self.retire();
        }
    }

    /// Asks the registry to be forgotten. Until it is, it may be sent more: a stop in its mailbox must not get lost.
    fn retire(&self) {
        if let Err(error) = session_state::save(&self.shared.journal, &self.state) {
            tracing::warn!(session = %self.state.session(), %error, "Could not keep a snapshot.");
        }
        self.registry.do_send(Passivated {
            session: self.state.session(),
        });
    }

    /// Ends once all is done that the registry had sent before it forgot this actor.
    fn leave(&mut self, ctx: &mut Context<Self>) {
        self.leaves = true;
        if !self.has_plans() {
            ctx.stop();
        }
    }
}

/// Looks for prompts that no hook told of, and returns the session with them.
async fn find_prompts(shared: &Arc<Shared>, mut state: SessionState) -> SessionState {
    let (finder, known) = (Arc::clone(shared), state.clone());
    let found =
        tokio::task::spawn_blocking(move || transcripts::prompts(&finder.config(), &known)).await;
    let found = found.unwrap_or_default();
    if found.is_empty() {
        return state;
    }
    if let Err(error) = shared.append_and_settle(found).await {
        tracing::warn!(session = %state.session(), %error, "Could not journal what a transcript tells.");
    } else if let Err(error) = session_state::catch_up(&shared.journal, &mut state) {
        tracing::warn!(session = %state.session(), %error, "Could not read a session's events.");
    }
    state
}

impl Actor for Session {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
        ctx.run_interval(TICK, Self::tick);
    }
}

/// Something was appended to the session. Losing one is harmless: the next one catches up with all.
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct CatchUp;

impl Handler<CatchUp> for Session {
    type Result = ();

    fn handle(&mut self, _: CatchUp, ctx: &mut Self::Context) {
        self.used = Instant::now();
        self.catch_up();
        self.take_baseline(ctx);
        self.watch_restart(ctx);
        self.advance(ctx);
    }
}

/// Decide about a stop that is in the journal.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Decide {
    /// The stop.
    pub seq: u64,
    /// Somebody waits for the answer.
    pub answered: bool,
}

impl Handler<Decide> for Session {
    type Result = ();

    fn handle(&mut self, decide: Decide, ctx: &mut Self::Context) {
        self.used = Instant::now();
        self.catch_up();
        self.stops.push_back((decide.seq, decide.answered));
        self.advance(ctx);
    }
}

/// Ask to be forgotten, so as to leave memory.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Passivate;

impl Handler<Passivate> for Session {
    type Result = ();

    fn handle(&mut self, _: Passivate, _: &mut Self::Context) {
        if !self.has_plans() {
            self.retire();
        }
    }
}

/// A session's actor wants to leave. It is forgotten first, so that what was sent to it comes before its leave.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Passivated {
    /// The session.
    pub session: Uuid,
}

/// The registry has forgotten this actor, and sends nothing after this.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StopActor;

impl Handler<StopActor> for Session {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Self::Context) {
        self.leave(ctx);
    }
}

/// Tell what is known of the session.
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
