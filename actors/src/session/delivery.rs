//! Settling a delivery: journal whether the checkpoint was seen, or that it no longer can be.

use std::sync::Arc;

use actix::prelude::*;
use checkpoint::state::Delivery;
use journal::{Event, Route, Timestamp};

use super::Session;
use crate::draft::derived;
use crate::tmux::Deliver;

impl Session {
    /// Journals the outcome of the open delivery once it is known. Hands a checkpoint that is to be typed to the
    /// terminal's delivery actor.
    pub(super) fn settle_delivery(&mut self, ctx: &mut Context<Self>) {
        let Some(delivery) = &self.state.delivery else {
            return;
        };
        let decision = delivery.decision;
        let Some(event) = self.outcome(delivery) else {
            if delivery.route == Route::Tmux {
                self.hand_over(decision);
            }
            return;
        };
        self.busy = true;
        let draft = derived(&self.state.stream, Timestamp::now(), event, decision);
        let shared = Arc::clone(&self.shared);
        let work = async move { shared.append_and_settle(vec![draft]).await };
        ctx.spawn(work.into_actor(self).map(|appended, session, ctx| {
            session.busy = false;
            session.catch_up();
            match appended {
                Ok(_) => session.advance(ctx),
                Err(error) => {
                    tracing::error!(session = %session.state.session(), %error, "Could not journal the outcome of a delivery.");
                }
            }
        }));
    }

    /// Returns the event that ends a delivery, or `None` while the delivery is open. The delivery actor times out typed
    /// checkpoints itself.
    fn outcome(&self, delivery: &Delivery) -> Option<Event> {
        let decision = delivery.decision;
        let is_typed = delivery.route == Route::Tmux;
        if let Some(by) = delivery.seen_by.clone() {
            return Some(Event::DeliveryConfirmed { decision, by });
        }
        // An agent that is being restarted ended before its checkpoint was decided.
        let has_ended = |ended| !is_typed || ended >= delivery.at;
        let timeout = self.shared.config().settings.confirm_timeout.0;
        let reason = if self.state.ended_at.is_some_and(has_ended) {
            "session_ended"
        } else if !is_typed && Timestamp::now() > delivery.at.plus(timeout) {
            "confirm_timeout"
        } else {
            return None;
        };
        Some(Event::DeliveryExpired {
            decision,
            reason: reason.into(),
        })
    }

    /// Hands a decision over for typing. The delivery actor ignores decisions that it already works on.
    fn hand_over(&mut self, decision: u64) {
        if self.handed_over.replace(decision) != Some(decision) {
            self.routes.tmux.do_send(Deliver {
                stream: self.state.stream.clone(),
                decision,
            });
        }
    }
}
