//! The calls of a turn that are to be examined, and what was read of those that were (spec EVID-4).

use journal::{Host, Timestamp, ToolCall, ToolKind};

use super::ended::{Ended, ExaminedCall};
use super::model::{SessionState, Turn};

/// The most calls that wait; the oldest are dropped.
pub const WAITING_MAX: usize = 64;
/// The most files that the examined calls of a turn list together; the oldest lists are dropped.
const FILES_MAX: usize = 20_000;
/// The most examined calls of a turn that are kept.
const EXAMINED_MAX: usize = 256;

impl SessionState {
    /// Notes that a call of the current turn ended, at the event with a sequence number.
    pub(super) fn call_ended(&mut self, seq: u64, host: &Host, call: &ToolCall) {
        let may_verify = matches!(call.kind, ToolKind::Shell | ToolKind::Other);
        let is_past = self.turn.started_at.is_some_and(|at| call.at < at);
        let is_past = is_past && !self.is_of_turn(host);
        if !may_verify || is_past || call.refused {
            return;
        }
        let same = |known: &&ToolCall| match (&known.id, &call.id) {
            (Some(known), Some(id)) => known == id,
            _ => {
                (known.finished || known.duration_ms.is_some())
                    && known.tool == call.tool
                    && known.command == call.command
            }
        };
        let known = self.turn.calls.iter().rev().find(same);
        self.turn.waiting.push(Ended {
            seq,
            id: call.id.clone(),
            at: known.map_or(call.at, |known| known.at),
            ended_at: call.at,
            duration_ms: call.duration_ms,
        });
        self.turn.bound_examined();
    }

    /// Keeps what was read of a call of the current turn.
    pub(super) fn call_examined(&mut self, call: ExaminedCall) {
        let is_of_turn = self.turn.started_at.is_none_or(|at| call.at >= at);
        let ended = |known: &Ended| known.id == call.id && known.at == call.at;
        let waited = self.turn.waiting.iter().any(ended);
        self.turn.waiting.retain(|known| !ended(known));
        if waited || is_of_turn {
            self.turn.examined.push(call);
            self.turn.bound_examined();
        }
    }
}

impl Turn {
    /// Takes over what another part of the turn knows of its calls, from a time on.
    pub(super) fn take_in_examined(&mut self, part: &mut Self, from: Option<Timestamp>) {
        let counts = |at: Timestamp| from.is_none_or(|from| at >= from);
        for call in part.waiting.extract_if(.., |call| counts(call.at)) {
            if !self.waiting.contains(&call) {
                self.waiting.push(call);
            }
        }
        for call in part.examined.extract_if(.., |call| counts(call.at)) {
            if !self.examined.contains(&call) {
                self.examined.push(call);
            }
        }
        self.bound_examined();
    }

    fn bound_examined(&mut self) {
        let more = self.waiting.len().saturating_sub(WAITING_MAX);
        self.waiting.drain(..more);
        let more = self.examined.len().saturating_sub(EXAMINED_MAX);
        self.examined.drain(..more);
        let mut files = 0;
        for call in self.examined.iter_mut().rev() {
            files += call.examined.contents.len();
            if files > FILES_MAX {
                call.examined.contents.clear();
                call.examined.is_cut = true;
            }
        }
    }
}
