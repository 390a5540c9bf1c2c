//! The current turn: its beginning and its tool calls.

use journal::{Envelope, Timestamp, ToolCall, ToolKind};

use super::model::{Block, PARTS_MAX, SessionState, Turn};

/// The most tool calls of one turn that are kept; the oldest are dropped.
pub const CALLS_MAX: usize = 1_000;
/// The most prompts of one turn that are kept; the oldest are dropped.
const PROMPTS_MAX: usize = 8;

impl SessionState {
    /// Begins a turn at `at`. What happened later stays in it (a prompt may be journaled late), and
    /// so do the checkpoints of the same host turn (a message may be steered into a running turn).
    pub(super) fn begin_turn(&mut self, digest: u64, at: Timestamp, host_turn: Option<&str>) {
        self.turns += 1;
        let is_earlier = self.turn.started_at.is_some_and(|started| at < started);
        if is_earlier && !self.clock_went_back {
            return;
        }
        self.keep_ahead(host_turn);
        let mut old = std::mem::take(&mut self.turn);
        let later = |time: Option<Timestamp>| time.filter(|time| *time >= at);
        let stays = |block: &Block| {
            block.at >= at || (host_turn.is_some() && block.host_turn.as_deref() == host_turn)
        };
        let calls: Vec<_> = old
            .calls
            .iter()
            .filter(|call| call.at >= at && !is_earlier)
            .cloned()
            .collect();
        self.turn = Turn {
            started_at: Some(at),
            seq: self.last_seq,
            prompt_digest: Some(digest),
            last_checkpoint_at: later(old.last_checkpoint_at),
            first_tool_use_at: calls.iter().map(|call| call.at).min(),
            last_tool_use_at: later(old.last_tool_use_at),
            blocks: old
                .blocks
                .iter()
                .filter(|block| stays(block))
                .cloned()
                .collect(),
            calls,
            host_turn: host_turn.map(str::to_owned),
            ..Turn::default()
        };
        self.turn.take_in_examined(&mut old, Some(at));
        self.previous = Some(Box::new(old));
        self.running = true;
        self.dialog_up = false;
        self.own_prompt_last = false;
        self.notification = None;
        self.told = false;
        // The same words are an answer to something else now.
        self.announced = None;
        self.cleared = false;
    }

    /// Returns whether an event is of the current turn, whatever its time says: the host says so, or the clock went back
    /// since the turn began.
    pub(super) fn is_of_turn(&self, host: &journal::Host) -> bool {
        self.clock_went_back || (host.turn.is_some() && host.turn == self.turn.host_turn)
    }

    /// Notes whether an event was recorded at a time before that of the turn's beginning, although it comes after it. Then
    /// the clock went back, and the order counts.
    pub(super) fn see_clock(&mut self, envelope: &Envelope) {
        let began = self.turn.started_at;
        self.clock_went_back = began.is_some_and(|began| envelope.recorded_at < began);
    }

    /// Keeps the text of the prompt with which the current turn began.
    pub(super) fn note_prompt(&mut self, at: Timestamp, text: &str) {
        if self.turn.started_at == Some(at) {
            self.turn.take_in_prompts(vec![text.to_owned()]);
        }
    }

    pub(super) fn tool_started(&mut self, host: &journal::Host, call: &ToolCall) {
        let is_own = self.is_of_turn(host);
        self.used_tool(call.at, is_own);
        if !self
            .turn
            .calls
            .iter()
            .any(|known| known.id.is_some() && known.id == call.id)
        {
            self.push_call(call.clone(), is_own);
        }
    }

    pub(super) fn tool_finished(&mut self, host: &journal::Host, call: &ToolCall) {
        let is_own = self.is_of_turn(host);
        self.dialog_up = false;
        self.counts.tools += 1;
        self.counts.errors += u64::from(call.is_error);
        let edits = matches!(call.kind, ToolKind::Edit | ToolKind::Write) && !call.refused;
        if let Some(id) = host.subagent.as_ref().filter(|_| edits) {
            let left = PARTS_MAX.saturating_sub(self.turn.parts.len());
            let paths = call.paths.iter().take(left);
            let parts = paths.map(|path| (id.clone(), path.clone()));
            self.turn.parts.extend(parts);
        }
        let same = |known: &&mut ToolCall| match (&known.id, &call.id) {
            (Some(known), Some(id)) => known == id,
            _ => {
                !(known.finished || known.duration_ms.is_some())
                    && known.tool == call.tool
                    && known.command == call.command
                    && known.paths == call.paths
            }
        };
        if let Some(known) = self.turn.calls.iter_mut().find(same) {
            let began = known.at;
            *known = ToolCall {
                at: began,
                ..call.clone()
            };
            known.duration_ms = call
                .duration_ms
                .or_else(|| Some(call.at.millis_since(began)));
        } else {
            self.push_call(call.clone(), is_own);
        }
        self.used_tool(call.at, is_own);
    }

    fn used_tool(&mut self, at: Timestamp, is_own: bool) {
        self.running = true;
        self.told = false;
        // A call of an earlier turn that is reported late says nothing about this one.
        if is_own || self.turn.started_at.is_none_or(|started| at >= started) {
            self.turn.first_tool_use_at = Some(
                self.turn
                    .first_tool_use_at
                    .map_or(at, |first| first.min(at)),
            );
            self.turn.last_tool_use_at = self.turn.last_tool_use_at.max(Some(at));
        }
    }

    fn push_call(&mut self, call: ToolCall, is_own: bool) {
        let started = self.turn.started_at.filter(|_| !is_own);
        if started.is_some_and(|started| call.at < started) {
            return;
        }
        // By `at`: two hooks of parallel calls may arrive in either order.
        let place = self.turn.calls.partition_point(|known| known.at <= call.at);
        self.turn.calls.insert(place, call);
        if self.turn.calls.len() > CALLS_MAX {
            self.turn.calls.remove(0);
        }
    }

    /// Gemini reports only afterward that a prompt was another hook's feedback: a re-entered stop
    /// names the prompt that its turn really began with. The turn that the feedback seemed to begin
    /// is then merged into the previous one.
    pub(super) fn take_back_false_turn(&mut self, prompt_digest: Option<u64>) {
        let is_false = self.turn.prompt_digest != prompt_digest
            && self
                .previous
                .as_ref()
                .is_some_and(|previous| previous.prompt_digest == prompt_digest);
        let Some(mut turn) = is_false.then(|| self.previous.take()).flatten() else {
            return;
        };
        let mut seeming = std::mem::take(&mut self.turn);
        turn.last_checkpoint_at = turn.last_checkpoint_at.max(seeming.last_checkpoint_at);
        turn.first_tool_use_at = turn.first_tool_use_at.or(seeming.first_tool_use_at);
        turn.last_tool_use_at = turn.last_tool_use_at.max(seeming.last_tool_use_at);
        turn.take_in_examined(&mut seeming, None);
        turn.blocks.extend(seeming.blocks);
        turn.calls.extend(seeming.calls);
        self.turn = *turn;
        self.turns -= 1;
    }
}

impl Turn {
    /// Adds prompts of a later part of the turn.
    pub(super) fn take_in_prompts(&mut self, more: Vec<String>) {
        self.prompts.extend(more);
        let old = self.prompts.len().saturating_sub(PROMPTS_MAX);
        self.prompts.drain(..old);
    }
}
