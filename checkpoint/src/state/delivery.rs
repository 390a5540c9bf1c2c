//! The delivery of a checkpoint: its progress, and the sign that the agent has it.

use journal::{Decision, Event, PromptOrigin, Route, Timestamp};

use super::model::{Delivery, SessionState};
use crate::agents;
use crate::digest;
use crate::terminal::Typed;

impl Delivery {
    /// Creates the delivery of a decision; `None` when nothing is sent.
    pub(super) fn of(
        seq: u64,
        at: Timestamp,
        decision: &Decision,
        host_turn: Option<String>,
    ) -> Option<Self> {
        Some(Self {
            decision: seq,
            at,
            route: decision.route?,
            host_turn,
            demand: decision.demand,
            attempted: false,
            digest: decision.message.as_deref().map(digest::of_prompt),
            typed: Typed::default(),
            seen_by: None,
            holds_call: false,
        })
    }
}

impl SessionState {
    /// Our own text does not count as a message (spec TURN-2). A hook reply that comes back as a
    /// prompt (Gemini) is the echo of that reply; typed text could make a loop.
    pub(super) fn own_prompt(&mut self) {
        let echo = self
            .delivery
            .as_ref()
            .is_some_and(|delivery| delivery.route == Route::HookReply);
        self.own_prompt_last = !echo;
    }

    /// A prompt was found in the transcript after its turn was over, or during the search for it.
    pub(super) fn found_prompt(
        &mut self,
        transcript: &str,
        origin: PromptOrigin,
        digest: u64,
        at: Timestamp,
    ) {
        self.place
            .transcript
            .get_or_insert_with(|| transcript.to_owned());
        match origin {
            PromptOrigin::User => {
                let running = self.running;
                self.begin_turn(digest, at, None);
                self.running = running;
            }
            PromptOrigin::Own => self.own_prompt(),
            PromptOrigin::Host | PromptOrigin::Subagent => {}
        }
    }

    /// Applies the progress or the end of a delivery.
    pub(super) fn delivery_went_on(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::DeliveryAttempted {
                decision, attempt, ..
            } => {
                if let Some(delivery) = self.open_delivery(*decision) {
                    delivery.attempted = true;
                    delivery.typed = Typed {
                        attempts: *attempt,
                        attempted_at: Some(at),
                        ..Typed::default()
                    };
                }
            }
            Event::DeliveryHeld { decision, obstacle } => {
                if let Some(delivery) = self.open_delivery(*decision) {
                    delivery.typed.held = Some(obstacle.clone());
                }
            }
            Event::DeliveryPasted { decision, pid, .. } => {
                if let Some(delivery) = self.open_delivery(*decision) {
                    (delivery.typed.pasted_at, delivery.typed.pid) = (Some(at), *pid);
                }
            }
            Event::DeliveryEntered { decision, count } => {
                if let Some(delivery) = self.open_delivery(*decision) {
                    (delivery.typed.enters, delivery.typed.entered_at) = (*count, Some(at));
                }
            }
            Event::DeliveryConfirmed { decision, .. } => drop(self.close_delivery(*decision)),
            Event::DeliveryFailed { decision, .. } | Event::DeliveryExpired { decision, .. } => {
                let Some(lost) = self.close_delivery(*decision) else {
                    return;
                };
                let failed = matches!(event, Event::DeliveryFailed { .. });
                if lost.holds_call && !failed {
                    // The host was answered, and nothing is held twice.
                    return;
                }
                // A demand that never arrived may be made again.
                self.demands.retain(|known| Some(*known) != lost.demand);
                if lost.holds_call {
                    // The call went through, and the stop is still to be judged.
                    self.turn.blocks.retain(|block| block.at != lost.at);
                    return;
                }
                self.finished_after_all(event, &lost);
            }
            _ => {}
        }
    }

    /// Notes an event that shows the agent has the checkpoint (spec DELIV-4).
    pub(super) fn see_delivery(&mut self, event: &Event, at: Timestamp) {
        let unseen = |delivery: &&mut Delivery| delivery.seen_by.is_none() && delivery.at <= at;
        let Some(delivery) = self.delivery.as_mut().filter(unseen) else {
            return;
        };
        let is_next = matches!(
            event,
            Event::ToolStarted { .. } | Event::AgentStopped { .. }
        );
        // An agent whose call was held back has gone on with anything that it does.
        let by_work = delivery.holds_call
            || is_next
                && agents::adapter(self.stream.agent).is_some_and(|agent| agent.takes_silently);
        let same_turn = |turn: &Option<String>| turn.is_some() && *turn == delivery.host_turn;
        let seen = match event {
            Event::PromptSubmitted {
                origin: PromptOrigin::Own,
                ..
            } => Some("prompt_hook"),
            Event::PromptFound {
                origin: PromptOrigin::Own,
                ..
            } => Some("transcript"),
            Event::AgentStopped {
                prompt_digest: Some(digest),
                ..
            } if delivery.route == Route::Tmux && delivery.digest == Some(*digest) => {
                self.own_prompt_last = true;
                Some("notify")
            }
            // These report earlier things: Claude shows a message's text after the stop that
            // followed it.
            Event::SessionEnded { .. }
            | Event::SubagentStopped { .. }
            | Event::Notified { .. }
            | Event::ModelStepped { .. }
            | Event::OtherHook { .. } => None,
            _ if delivery.route == Route::HookReply => {
                let host = event
                    .host()
                    .filter(|host| host.subagent.is_none() && (by_work || same_turn(&host.turn)));
                host.map(|_| "next_event")
            }
            _ => None,
        };
        delivery.seen_by = seen.map(str::to_owned);
    }

    fn open_delivery(&mut self, decision: u64) -> Option<&mut Delivery> {
        self.delivery
            .as_mut()
            .filter(|delivery| delivery.decision == decision)
    }

    fn close_delivery(&mut self, decision: u64) -> Option<Delivery> {
        self.delivery
            .take_if(|delivery| delivery.decision == decision)
    }
}
