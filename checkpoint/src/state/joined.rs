//! Messages that a person types while the agent works (spec TURN-14).
//!
//! The host gives such a message the id of the running turn. When it comes it begins a turn here like any other, and the
//! turn before is kept; an event joins the two if the policy wants that.

use journal::{Event, Timestamp, ToolCall};

use super::model::{SessionState, Turn};
use super::turn::CALLS_MAX;

impl SessionState {
    /// Keeps the turn that continues when a message comes with its id.
    pub(super) fn keep_ahead(&mut self, host_turn: Option<&str>) {
        let goes_on = host_turn.is_some() && self.turn.host_turn.as_deref() == host_turn;
        if !goes_on {
            self.ahead = None;
        } else if let Some(first) = &mut self.ahead {
            first.take_in(self.turn.clone());
        } else {
            self.ahead = Some(Box::new(self.turn.clone()));
        }
    }

    /// Returns the beginning of the turn that the current one is part of, if the host says that it is.
    pub fn joins(&self) -> Option<Timestamp> {
        self.ahead.as_ref()?.started_at
    }

    /// Joins the current turn with the one that it is part of.
    pub(super) fn join_turns(&mut self, turn_at: Timestamp) {
        let Some(mut first) = self
            .ahead
            .take_if(|first| first.started_at == Some(turn_at))
        else {
            return;
        };
        let part = std::mem::take(&mut self.turn);
        first.added = part.prompt_digest;
        first.take_in(part);
        self.turn = *first;
    }

    /// Begins the turn of an added message that the agent handled only after its stop: it works under an id that no
    /// prompt reported.
    pub(super) fn see_turn(&mut self, event: &Event) {
        let Some(host) = event.host().filter(|host| host.subagent.is_none()) else {
            return;
        };
        let is_new = host.turn.is_some() && host.turn != self.turn.host_turn;
        let (Some(digest), true) = (self.turn.added, is_new) else {
            return;
        };
        match event {
            // What the host itself says in between has ids of its own.
            Event::PromptSubmitted { .. } => self.turn.added = None,
            Event::ToolStarted { .. }
            | Event::ToolFinished { .. }
            | Event::ToolFailed { .. }
            | Event::ModelStepped { .. }
            | Event::AgentStopped { .. } => {
                if let Some(at) = self.stopped_at {
                    // It was counted as it was typed.
                    self.turns -= 1;
                    let prompt = self.turn.prompts.pop();
                    self.begin_turn(digest, at, host.turn.as_deref());
                    self.turn.take_in_prompts(Vec::from_iter(prompt));
                }
            }
            _ => {}
        }
    }
}

impl Turn {
    /// Adds what happened in a later part of the turn.
    fn take_in(&mut self, mut part: Self) {
        self.take_in_examined(&mut part, None);
        self.take_in_prompts(std::mem::take(&mut part.prompts));
        self.last_checkpoint_at = self.last_checkpoint_at.max(part.last_checkpoint_at);
        self.first_tool_use_at = self.first_tool_use_at.or(part.first_tool_use_at);
        self.last_tool_use_at = self.last_tool_use_at.max(part.last_tool_use_at);
        for block in part.blocks {
            if !self.blocks.contains(&block) {
                self.blocks.push(block);
            }
        }
        for call in part.calls {
            self.take_in_call(call);
        }
        self.calls.sort_by_key(|call| call.at);
        let more = self.calls.len().saturating_sub(CALLS_MAX);
        self.calls.drain(..more);
    }

    /// Adds a call; one that began before its part is already known, without its end.
    fn take_in_call(&mut self, call: ToolCall) {
        let same = |known: &&mut ToolCall| match (&known.id, &call.id) {
            (Some(known), Some(id)) => known == id,
            _ => **known == call,
        };
        match self.calls.iter_mut().find(same) {
            None => self.calls.push(call),
            Some(known) if known.finished => {}
            Some(known) => {
                let began = known.at;
                let lasted = call.at.millis_since(began);
                *known = ToolCall { at: began, ..call };
                known.duration_ms = known.duration_ms.or(Some(lasted));
            }
        }
    }
}
