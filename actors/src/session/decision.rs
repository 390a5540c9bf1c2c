//! Deciding about a stop: gather evidence, decide, append the decision, and only then publish it.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::agents;
use checkpoint::decide::{self, Case};
use checkpoint::state::{SessionState, Stop};
use journal::{
    Appended, Decision, Draft, Envelope, Event, Evidence, Facts, Reason, Route, Timestamp,
};

use super::{Decide, Session};
use crate::beginning;
use crate::draft::derived;
use crate::evidence::{self, Beside, Gathered};
use crate::hook_reply::{self, Release};
use crate::shared::Shared;
use crate::transcripts;

/// When a stop is decided about again whose decision the journal did not take, as on a full disk.
const DECIDE_AGAIN_AFTER: Duration = Duration::from_secs(10);

impl Session {
    /// Gathers the evidence for a decision on a blocking thread, and then decides.
    pub(super) fn gather(&mut self, stop: Stop, ctx: &mut Context<Self>) {
        self.busy = true;
        let shared = Arc::clone(&self.shared);
        let state = self.state.clone();
        let examining = Arc::clone(&self.examining);
        let about = stop.clone();
        let omits_prompts =
            agents::adapter(state.stream.agent).is_some_and(|agent| agent.omits_prompts);
        let work = async move {
            let state = if about.restart || (about.can_reply && !omits_prompts) {
                state
            } else {
                find_prompts(&shared, state).await
            };
            let state = join_turns(&shared, state).await;
            let state = examining.work_in_time(&shared, state).await;
            let project = state.project().to_owned();
            let gather = move |shared: &Shared| {
                let payload = (about.background_tasks > 0)
                    .then(|| shared.journal.payload(about.seq).ok().flatten());
                let payload = payload.flatten();
                evidence::gather(
                    &shared.config(),
                    &shared.trust(),
                    &state,
                    &about,
                    Beside {
                        payload: payload.as_deref(),
                        others: &shared.others,
                    },
                )
            };
            shared.look_at(&project, gather).await
        };
        let shared = Arc::clone(&self.shared);
        let work = async move { shared.in_place(Box::pin(work)).await };
        ctx.spawn(work.into_actor(self).map(move |gathered, session, ctx| {
            session.busy = false;
            session.catch_up();
            match gathered {
                Some(gathered) => session.decide(&stop, gathered, ctx),
                None => session.decide_unanswered(&stop, Reason::Overloaded, ctx),
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

    /// Lets a stop pass without an answer.
    pub(super) fn decide_unanswered(
        &mut self,
        stop: &Stop,
        reason: Reason,
        ctx: &mut Context<Self>,
    ) {
        let policy = evidence::default_policy(&self.shared.config());
        let (fingerprint, adoption) = self.shared.adopt(&policy);
        let case = Case {
            state: &self.state,
            stop,
            evidence: &Evidence::default(),
            policy: &policy,
            fingerprint,
        };
        let decision = decide::pass_unanswered(&case, reason);
        self.append_decision(stop, decision, None, adoption, ctx);
    }

    /// Appends a decision and what belongs to it as one group, applies it, and only then publishes it.
    fn append_decision(
        &mut self,
        stop: &Stop,
        decision: Decision,
        evidence: Option<Evidence>,
        adoption: Option<Draft>,
        ctx: &mut Context<Self>,
    ) {
        let mut drafts = Vec::from_iter(adoption);
        drafts.extend(self.decision_drafts(stop, &decision, evidence));
        self.busy = true;
        let shared = Arc::clone(&self.shared);
        let is_answered = decision.route == Some(Route::HookReply);
        let release = self.release_of(decision.trigger);
        let replies = self.routes.replies.clone();
        // A caller that gets nothing goes on once the decision is on disk. It need not wait until that can be read.
        let acknowledged = move |appended: &[Appended]| {
            if !is_answered && appended.last().is_some_and(|own| !own.duplicate) {
                replies.do_send(release);
            }
        };
        let work = async move {
            shared
                .append_readable(drafts, !is_answered, acknowledged)
                .await
        };
        ctx.spawn(work.into_actor(self).map(move |appended, session, ctx| {
            session.busy = false;
            session.catch_up();
            match appended {
                Ok(appended) => {
                    session.shared.adopted(decision.policy);
                    match appended.last() {
                        // An actor before this one decided already, maybe differently: the journaled decision counts.
                        Some(own) if own.duplicate => session.answer_again(decision.trigger),
                        Some(own) => session.publish(own.seq, decision, 1),
                        None => {}
                    }
                    session.save_snapshot_later(ctx);
                }
                Err(error) => {
                    tracing::error!(session = %session.state.session(), %error, "Could not journal the decision; the agent stops normally.");
                    session.release(decision.trigger);
                    let again = Decide {
                        seq: decision.trigger,
                        answered: false,
                    };
                    ctx.notify_later(again, DECIDE_AGAIN_AFTER);
                }
            }
            session.advance(ctx);
        }));
    }

    /// Returns the events of a decision, the decision itself last.
    fn decision_drafts(
        &self,
        stop: &Stop,
        decision: &Decision,
        evidence: Option<Evidence>,
    ) -> Vec<Draft> {
        let draft = |event, cause: u64| derived(&self.state.stream, stop.at, event, cause);
        let mut drafts = Vec::new();
        if let Some(mut evidence) = evidence {
            if decision.reason == Reason::EscapeHatch {
                let by = if evidence.escape_marker {
                    "marker"
                } else {
                    "command"
                };
                drafts.push(draft(Event::EscapeHatchUsed { by: by.into() }, stop.seq));
            }
            let facts = std::mem::take(&mut evidence.facts);
            if facts != Facts::default() {
                let event = Event::FactsGathered {
                    trigger: stop.seq,
                    facts: Box::new(facts),
                };
                drafts.push(draft(event, stop.seq));
            }
            let event = Event::EvidenceGathered {
                trigger: stop.seq,
                evidence: Box::new(evidence),
            };
            drafts.push(draft(event, stop.seq));
        }
        if let Some(restart) = self.state.restart_due(stop.at)
            && stop.can_reply
            && !decide::is_unanswered(decision.reason)
        {
            let event = Event::RestartClosed {
                restart,
                reason: "at_next_stop".into(),
            };
            drafts.push(draft(event, restart));
        }
        if let Some(open) = self
            .state
            .delivery
            .as_ref()
            .filter(|_| decision.route.is_some())
        {
            // What was found for this decision may show that the agent has the checkpoint before it.
            let event = match open.seen_by.clone() {
                Some(by) => Event::DeliveryConfirmed {
                    decision: open.decision,
                    by,
                },
                None => Event::DeliveryExpired {
                    decision: open.decision,
                    reason: "superseded".into(),
                },
            };
            drafts.push(draft(event, open.decision));
        }
        drafts.push(draft(Event::Decided(Box::new(decision.clone())), stop.seq));
        drafts
    }

    fn publish(&self, seq: u64, decision: Decision, attempt: u32) {
        let verdict = decision.verdict;
        let reason = decision.reason.word();
        tracing::info!(session = %self.state.session(), seq, %verdict, reason, "Decided about a stop.");
        // This unbounded queue gets one message per decision, so it grows no faster than agents stop.
        self.routes.replies.do_send(hook_reply::Decided {
            stream: self.state.stream.clone(),
            seq,
            decision: Box::new(decision),
            attempt,
        });
    }

    /// Answers a hook call that was repeated after its stop was decided: it gets the same answer while the delivery is
    /// open, and otherwise none.
    pub(super) fn answer_again(&self, trigger: u64) {
        let open = self
            .state
            .delivery
            .as_ref()
            .map(|delivery| delivery.decision);
        let decided = open.and_then(|seq| self.shared.journal.event(seq).ok().flatten());
        if let Some(Envelope {
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

    /// Releases the hook call that waits for the answer to a stop.
    fn release(&self, trigger: u64) {
        self.routes.replies.do_send(self.release_of(trigger));
    }

    fn release_of(&self, trigger: u64) -> Release {
        Release {
            session: self.state.session(),
            seq: trigger,
        }
    }
}

/// Journals prompts that only the transcript has, and returns the state with them.
async fn find_prompts(shared: &Arc<Shared>, mut state: SessionState) -> SessionState {
    let known = state.clone();
    let find =
        move |shared: &Shared| transcripts::prompts(&shared.config(), &shared.trust(), &known);
    let found = shared.look_at(state.project(), find).await;
    shared.note(&mut state, found.unwrap_or_default()).await;
    state
}

/// Joins the turn with an earlier one, if it is part of that, and returns the state (spec TURN-14).
async fn join_turns(shared: &Arc<Shared>, mut state: SessionState) -> SessionState {
    if state.joins().is_none() {
        return state;
    }
    let known = state.clone();
    let join = move |shared: &Shared| beginning::joined(&shared.config(), &shared.trust(), &known);
    let event = shared.look_at(state.project(), join).await.flatten();
    let cause = state.last_seq;
    let draft = event.map(|event| derived(&state.stream, Timestamp::now(), event, cause));
    shared.note(&mut state, Vec::from_iter(draft)).await;
    state
}
