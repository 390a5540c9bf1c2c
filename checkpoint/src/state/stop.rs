//! Stops, and the decisions about them.

use journal::{Decision, Envelope, Event, Route, Timestamp, Verdict};

use super::model::{Block, Delivery, SessionState, Stop};

/// The most stops that wait for a decision; the caller of an older one no longer waits.
pub const PENDING_MAX: usize = 8;

/// The most delivered demands that are remembered for `repeat: once`.
pub const DEMANDS_MAX: usize = 64;

impl SessionState {
    pub(super) fn stopped(&mut self, envelope: &Envelope) {
        let Event::AgentStopped {
            host,
            reentry,
            background_tasks,
            can_reply,
            prompt_digest,
            last_message,
        } = &envelope.event
        else {
            return;
        };
        // Codex reports one stop twice: by its Stop hook, and then by its notify program.
        if !can_reply && host.turn.is_some() && host.turn == self.decided_turn {
            return;
        }
        self.stopped_at = Some(envelope.at);
        self.running = false;
        self.dialog_up = false;
        self.told = false;
        self.counts.stops += 1;
        if *reentry && prompt_digest.is_some() {
            self.take_back_false_turn(*prompt_digest);
        }
        if last_message.is_some() {
            self.last_output.clone_from(last_message);
        }
        self.waits(Stop {
            seq: envelope.seq,
            at: envelope.at,
            host_turn: host.turn.clone(),
            can_reply: *can_reply,
            background_tasks: *background_tasks,
            restart: false,
            leaves: None,
        });
    }

    pub(super) fn waits(&mut self, stop: Stop) {
        if self.pending.len() == PENDING_MAX {
            self.pending.remove(0);
        }
        self.pending.push(stop);
    }

    pub(super) fn decided(&mut self, seq: u64, at: Timestamp, decision: &Decision) {
        let waiting = self
            .pending
            .iter()
            .position(|stop| stop.seq == decision.trigger);
        let stop = waiting.map(|index| self.pending.remove(index));
        self.restart
            .take_if(|(restart, _)| *restart == decision.trigger);
        let holds_call = stop.as_ref().is_some_and(|stop| stop.leaves.is_some());
        if holds_call && decision.verdict == Verdict::Pass {
            // The agent goes on, and its stop will be judged.
            return;
        }
        self.open.decided(decision, &self.turn);
        if !holds_call {
            self.decided_turn = stop.as_ref().and_then(|stop| stop.host_turn.clone());
        }
        if decision.verdict == Verdict::Pass {
            self.counts.passed += 1;
            self.finished(at, decision.reason);
            return;
        }
        self.counts.injected += 1;
        self.sent = Some(seq);
        self.running = decision.route == Some(Route::HookReply);
        self.turn.last_checkpoint_at = self.turn.last_checkpoint_at.max(Some(at));
        let host_turn = stop.and_then(|stop| stop.host_turn);
        self.turn.blocks.push(Block {
            at,
            host_turn: host_turn.clone(),
            demand: decision.demand,
        });
        if let Some(demand) = decision.demand {
            self.demands.retain(|known| *known != demand);
            self.demands.push(demand);
            if self.demands.len() > DEMANDS_MAX {
                self.demands.remove(0);
            }
        }
        self.delivery = Delivery::of(seq, at, decision, host_turn);
        if let Some(delivery) = &mut self.delivery {
            delivery.holds_call = holds_call;
        }
    }

    /// Returns the restart with sequence number `seq` as a stop to decide about.
    pub fn restart_stop(&self, seq: u64) -> Option<Stop> {
        let (restart, due) = self.restart.filter(|(restart, _)| *restart == seq)?;
        Some(Stop {
            seq: restart,
            at: due,
            host_turn: None,
            can_reply: false,
            background_tasks: 0,
            restart: true,
            leaves: None,
        })
    }

    /// Returns the restart whose checkpoint is due at `at`. An agent without a terminal gets it as
    /// the reply to its next stop.
    pub fn restart_due(&self, at: Timestamp) -> Option<u64> {
        self.restart
            .filter(|(_, due)| *due <= at)
            .map(|(restart, _)| restart)
    }
}
