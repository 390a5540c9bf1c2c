//! What we know of a session: one value, folded from its events by one function.
//!
//! [`SessionState::apply`] is total and takes its times from the envelope, so that live handling and replay are the same
//! code. Events may come late: whatever a fact is about, its `at` decides, not its place in the journal.

use journal::{
    Agent, Decision, Envelope, Event, Place, ProgressKind, PromptOrigin, Stream, Timestamp,
    ToolCall, Verdict,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

mod attention;
mod baseline;
mod delivery;
mod mute;
mod restart;

pub use attention::AGENT_FINISHED;
pub use delivery::Delivery;
pub use mute::Mute;

use crate::policy::Timer;
use crate::progress::Worked;

/// Version of the snapshot's shape; a snapshot of another one is not read.
pub const SNAPSHOT_VERSION: u32 = 6;

/// The most tool calls of one turn that are kept, the oldest go first.
pub const CALLS_MAX: usize = 1_000;
/// The most stops that wait for a decision; of more, the oldest will find nobody waiting.
pub const PENDING_MAX: usize = 8;
/// The most delivered demands that are remembered for `repeat: once`.
pub const DEMANDS_MAX: usize = 64;

/// One turn: from a real user message to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// When the real user message that began it was sent (`last_message_sent_at`, 001 inv 1).
    pub started_at: Option<Timestamp>,
    /// Hash of that message.
    pub prompt_digest: Option<u64>,
    /// The last checkpoint of the turn (`last_checkpoint_at`).
    pub last_checkpoint_at: Option<Timestamp>,
    /// The first tool use of the turn (000 inv 2).
    pub first_tool_use_at: Option<Timestamp>,
    /// The last tool use of the turn.
    pub last_tool_use_at: Option<Timestamp>,
    /// Checkpoints sent in the turn.
    pub blocks: Vec<Block>,
    /// Its tool calls, in the order in which they began.
    pub calls: Vec<ToolCall>,
    /// The files that had changed already when it began (`scope: turn`); none where nobody looked.
    pub baseline: Option<Vec<journal::ChangedFile>>,
}

/// A checkpoint that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// When it was decided.
    pub at: Timestamp,
    /// The host's id of the turn it was sent into.
    pub host_turn: Option<String>,
}

/// A stop that was not decided about yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Its sequence number.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The host's id of the turn.
    pub host_turn: Option<String>,
    /// The caller can continue the agent by its reply.
    pub can_reply: bool,
    /// Background tasks that still run.
    pub background_tasks: u32,
    /// It was asked for by an agent restart, not by the agent (001 inv 8).
    pub restart: bool,
}

/// What happened how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Events of the session.
    pub events: u64,
    /// Tool calls that finished or failed.
    pub tools: u64,
    /// Tool calls that failed.
    pub errors: u64,
    /// Stops.
    pub stops: u64,
    /// Checkpoints sent.
    pub injected: u64,
    /// Stops that were let pass.
    pub passed: u64,
}

/// What we know of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// Whose session it is.
    pub stream: Stream,
    /// The last event that was applied.
    pub last_seq: u64,
    /// When the last event happened.
    pub last_at: Option<Timestamp>,
    /// When its last hook call was made. What we did ourselves makes no call an old one that comes late.
    pub heard_at: Option<Timestamp>,
    /// Where the agent runs, as last heard.
    pub place: Place,
    /// When the session was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// The agent works.
    pub running: bool,
    /// How many real user messages there were.
    pub turns: u64,
    /// The current turn.
    pub turn: Turn,
    /// The turn before, for taking back a turn that hook feedback seemed to begin (Gemini).
    pub previous: Option<Box<Turn>>,
    /// The host tells of prompts by a hook, so that none has to be looked for.
    pub prompts_by_hook: bool,
    /// The last prompt was this product's own text, and not the echo of a hook reply (001 inv 5).
    pub own_prompt_last: bool,
    /// Somebody should look: the agent finished or asks. Cleared by a real user message only (001 inv 3).
    pub notification: Option<String>,
    /// A dialog waits for a person.
    pub dialog_up: bool,
    /// The user's own commands told of how things stand now.
    pub told: bool,
    /// Hash of the output that was announced last (001 inv 6).
    pub announced: Option<u64>,
    /// The person asked that the next stop pass (001 inv 9).
    pub cleared: bool,
    /// Whether the session is switched off.
    pub muted: Mute,
    /// The host's id of the turn whose stop was decided about last.
    pub decided_turn: Option<String>,
    /// Stops that wait for their decision, oldest first, at most [`PENDING_MAX`].
    pub pending: Vec<Stop>,
    /// A restart whose checkpoint is due: sequence number and time.
    pub restart: Option<(u64, Timestamp)>,
    /// The checkpoint on its way.
    pub delivery: Option<Delivery>,
    /// Demands that were delivered in this session.
    pub demands: Vec<u64>,
    /// The agent's last words at a stop that was let pass.
    pub last_output: Option<String>,
    /// What happened how often.
    pub counts: Counts,
    /// How long the agent has worked.
    pub worked: Worked,
    /// The progress document that was written last.
    pub progress: Option<Written>,
}

/// A progress document that was written, and how far the session was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its event.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The last one that was not incremental.
    pub full: Option<u64>,
    /// How long the agent had worked.
    pub worked_ms: u64,
    /// What had happened how often.
    pub counts: Counts,
    /// How many real user messages there were.
    pub turns: u64,
}

impl SessionState {
    /// Begins with nothing known.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            last_seq: 0,
            last_at: None,
            heard_at: None,
            place: Place::default(),
            started_at: None,
            ended_at: None,
            running: false,
            turns: 0,
            turn: Turn::default(),
            previous: None,
            prompts_by_hook: false,
            own_prompt_last: false,
            notification: None,
            dialog_up: false,
            told: false,
            announced: None,
            cleared: false,
            muted: Mute::Off,
            decided_turn: None,
            pending: Vec::new(),
            restart: None,
            delivery: None,
            demands: Vec::new(),
            last_output: None,
            counts: Counts::default(),
            worked: Worked::default(),
            progress: None,
        }
    }

    /// Returns the session's id.
    pub const fn session(&self) -> Uuid {
        self.stream.session
    }

    /// Returns the project: the folder the agent says it works for, else its working directory.
    pub fn project(&self) -> &str {
        let named = match self.stream.agent {
            Agent::Claude => self.place.env("CLAUDE_PROJECT_DIR"),
            Agent::Gemini => self.place.env("GEMINI_PROJECT_DIR"),
            _ => None,
        };
        named.unwrap_or(&self.place.cwd)
    }

    /// Returns when the current period of work began, by the given timer (001 inv 1, 000 inv 1-2).
    pub fn turn_start(&self, timer: Timer) -> Option<Timestamp> {
        match timer {
            Timer::Unified => self.turn.started_at.max(self.turn.last_checkpoint_at),
            // A checkpoint at or after the first tool use means: no new activity, nothing to time.
            Timer::FirstToolUse => self.turn.first_tool_use_at.filter(|first| {
                self.turn
                    .last_checkpoint_at
                    .is_none_or(|last| last < *first)
            }),
        }
    }

    /// Returns how many checkpoints the current turn has had.
    pub fn blocks_this_turn(&self) -> u32 {
        u32::try_from(self.turn.blocks.len()).unwrap_or(u32::MAX)
    }

    /// Folds one event onto what is known. Never fails, never looks at anything else.
    pub fn apply(&mut self, envelope: &Envelope) {
        let (at, seq) = (envelope.at, envelope.seq);
        self.last_seq = seq;
        self.counts.events += 1;
        self.started_at = Some(self.started_at.map_or(at, |known| known.min(at)));
        self.last_at = self.last_at.max(Some(at));
        let host = envelope.event.host();
        let newest = self.heard_at.is_none_or(|heard| heard <= at);
        self.heard_at = self.heard_at.max(host.map(|_| at));
        let place = host.and_then(|host| host.place.as_ref());
        if let Some(place) = place.filter(|_| newest || self.place.cwd.is_empty()) {
            let known = self.place.transcript.take();
            self.place = place.clone();
            // Codex's `notify` does not say where the transcript is.
            self.place.transcript = self.place.transcript.take().or(known);
        }
        self.see_delivery(&envelope.event, at);
        self.worked.see(envelope);
        match &envelope.event {
            Event::SessionStarted { .. } => self.ended_at = None,
            Event::SessionEnded { .. } if newest => {
                self.ended_at = Some(at);
                self.running = false;
                self.dialog_up = false;
            }
            Event::PromptSubmitted {
                host,
                origin,
                digest,
                ..
            } => {
                self.prompts_by_hook = true;
                match origin {
                    PromptOrigin::User => self.begin_turn(*digest, at, host.turn.as_deref()),
                    PromptOrigin::Own => self.own_prompt(),
                    PromptOrigin::Host | PromptOrigin::Subagent => {}
                }
            }
            Event::PromptFound {
                transcript,
                origin,
                digest,
                ..
            } => self.found_prompt(transcript, *origin, *digest, at),
            Event::ToolStarted { call, .. } => self.tool_started(call),
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                self.tool_finished(call)
            }
            Event::AgentStopped { .. } => self.stopped(envelope),
            Event::Interrupted { cause, .. } => {
                self.running = false;
                self.dialog_up = false;
                if cause != "user" {
                    self.call_person(at, "api_error");
                }
            }
            Event::Notified {
                notification: kind, ..
            } => {
                self.dialog_up |= matches!(kind.as_str(), "permission_prompt" | "ToolPermission");
                self.call_person(at, kind);
            }
            Event::PermissionAsked { .. } => {
                self.dialog_up = true;
                self.call_person(at, "permission");
            }
            Event::Decided(decision) => self.decided(seq, at, decision),
            Event::DeliveryAttempted { .. }
            | Event::DeliveryHeld { .. }
            | Event::DeliveryPasted { .. }
            | Event::DeliveryEntered { .. }
            | Event::DeliveryConfirmed { .. }
            | Event::DeliveryFailed { .. }
            | Event::DeliveryExpired { .. } => self.delivery_went_on(&envelope.event, at),
            Event::RestartRequested { due } => self.restart = Some((seq, *due)),
            Event::AgentRestarted { due } => {
                self.restart = self.restart.map(|(restart, _)| (restart, *due))
            }
            Event::RestartClosed { restart, .. } => {
                self.restart.take_if(|(known, _)| known == restart);
            }
            Event::Announced { news, output, .. } => self.announced(*news, *output),
            Event::EscapeHatchUsed { .. } => self.cleared = false,
            Event::CheckpointCleared {} => self.cleared = true,
            Event::Muted { until } => self.muted = until.map_or(Mute::ForGood, Mute::Until),
            Event::Unmuted {} => self.muted = Mute::Off,
            Event::ProgressWritten { progress, .. } => {
                let known = self.progress.as_ref().and_then(|written| written.full);
                let full = if *progress == ProgressKind::Incremental {
                    known
                } else {
                    Some(seq)
                };
                let (worked_ms, counts, turns) = (self.worked.ms, self.counts, self.turns);
                self.progress = Some(Written {
                    seq,
                    at,
                    full,
                    worked_ms,
                    counts,
                    turns,
                });
            }
            Event::BaselineTaken { turn_at, files } => self.take_baseline(*turn_at, files),
            _ => {}
        }
    }

    /// Begins a turn at `at`, keeping of the old one what happened later (a prompt may be journaled late), and the
    /// checkpoints of the same host turn (a message may be steered into a running one).
    fn begin_turn(&mut self, digest: u64, at: Timestamp, host_turn: Option<&str>) {
        self.turns += 1;
        if self.turn.started_at.is_some_and(|started| at < started) {
            return;
        }
        let old = std::mem::take(&mut self.turn);
        let later = |time: Option<Timestamp>| time.filter(|time| *time >= at);
        let stays = |block: &Block| {
            block.at >= at || (host_turn.is_some() && block.host_turn.as_deref() == host_turn)
        };
        let calls: Vec<_> = old
            .calls
            .iter()
            .filter(|call| call.at >= at)
            .cloned()
            .collect();
        self.turn = Turn {
            started_at: Some(at),
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
            baseline: None,
        };
        self.previous = Some(Box::new(old));
        self.running = true;
        self.dialog_up = false;
        self.own_prompt_last = false;
        self.notification = None;
        self.told = false;
        self.cleared = false;
    }

    fn tool_started(&mut self, call: &ToolCall) {
        self.used_tool(call.at);
        if !self
            .turn
            .calls
            .iter()
            .any(|known| known.id.is_some() && known.id == call.id)
        {
            self.push_call(call.clone());
        }
    }

    fn tool_finished(&mut self, call: &ToolCall) {
        self.dialog_up = false;
        self.counts.tools += 1;
        self.counts.errors += u64::from(call.is_error);
        let same = |known: &&mut ToolCall| match (&known.id, &call.id) {
            (Some(known), Some(id)) => known == id,
            _ => {
                !known.finished
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
            self.push_call(call.clone());
        }
        self.used_tool(call.at);
    }

    fn used_tool(&mut self, at: Timestamp) {
        self.running = true;
        self.told = false;
        // A call of an earlier turn that is reported late says nothing about this one.
        if self.turn.started_at.is_none_or(|started| at >= started) {
            self.turn.first_tool_use_at = Some(
                self.turn
                    .first_tool_use_at
                    .map_or(at, |first| first.min(at)),
            );
            self.turn.last_tool_use_at = self.turn.last_tool_use_at.max(Some(at));
        }
    }

    fn push_call(&mut self, call: ToolCall) {
        if self
            .turn
            .started_at
            .is_some_and(|started| call.at < started)
        {
            return;
        }
        // By `at`: two hooks of parallel calls may arrive in either order.
        let place = self.turn.calls.partition_point(|known| known.at <= call.at);
        self.turn.calls.insert(place, call);
        if self.turn.calls.len() > CALLS_MAX {
            self.turn.calls.remove(0);
        }
    }

    fn stopped(&mut self, envelope: &Envelope) {
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
        // Codex tells of one stop twice: by its Stop hook, and afterwards by its notify program.
        if !can_reply && host.turn.is_some() && host.turn == self.decided_turn {
            return;
        }
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
        if self.pending.len() == PENDING_MAX {
            self.pending.remove(0);
        }
        self.pending.push(Stop {
            seq: envelope.seq,
            at: envelope.at,
            host_turn: host.turn.clone(),
            can_reply: *can_reply,
            background_tasks: *background_tasks,
            restart: false,
        });
    }

    /// Gemini tells only afterwards that a prompt was another hook's feedback: a re-entered stop names the prompt that
    /// its turn really began with. The turn that the feedback seemed to begin is then joined with the one before.
    fn take_back_false_turn(&mut self, prompt_digest: Option<u64>) {
        let is_false = self.turn.prompt_digest != prompt_digest
            && self
                .previous
                .as_ref()
                .is_some_and(|previous| previous.prompt_digest == prompt_digest);
        let Some(mut turn) = is_false.then(|| self.previous.take()).flatten() else {
            return;
        };
        let seeming = std::mem::take(&mut self.turn);
        turn.last_checkpoint_at = turn.last_checkpoint_at.max(seeming.last_checkpoint_at);
        turn.first_tool_use_at = turn.first_tool_use_at.or(seeming.first_tool_use_at);
        turn.last_tool_use_at = turn.last_tool_use_at.max(seeming.last_tool_use_at);
        turn.blocks.extend(seeming.blocks);
        turn.calls.extend(seeming.calls);
        self.turn = *turn;
        self.turns -= 1;
    }

    fn decided(&mut self, seq: u64, at: Timestamp, decision: &Decision) {
        let waiting = self
            .pending
            .iter()
            .position(|stop| stop.seq == decision.trigger);
        let stop = waiting.map(|index| self.pending.remove(index));
        self.restart
            .take_if(|(restart, _)| *restart == decision.trigger);
        self.decided_turn = stop.as_ref().and_then(|stop| stop.host_turn.clone());
        if decision.verdict == Verdict::Pass {
            self.counts.passed += 1;
            self.finished(at, decision.reason);
            return;
        }
        self.counts.injected += 1;
        self.running = decision.route == Some(journal::Route::HookReply);
        self.turn.last_checkpoint_at = self.turn.last_checkpoint_at.max(Some(at));
        let host_turn = stop.and_then(|stop| stop.host_turn);
        self.turn.blocks.push(Block {
            at,
            host_turn: host_turn.clone(),
        });
        if let Some(demand) = decision.demand {
            self.demands.retain(|known| *known != demand);
            self.demands.push(demand);
            if self.demands.len() > DEMANDS_MAX {
                self.demands.remove(0);
            }
        }
        self.delivery = Delivery::of(seq, at, decision, host_turn);
    }
}
