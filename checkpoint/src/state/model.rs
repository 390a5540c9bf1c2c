//! What is known of a session, as plain data.

use journal::{Place, Route, Stream, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::agents;
use crate::policy::Timer;
use crate::progress::Worked;
use crate::terminal::Typed;

/// Version of the snapshot's shape; a snapshot of another one is not read.
pub const SNAPSHOT_VERSION: u32 = 6;

/// One turn: from a real user message to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// When the real user message that began it was sent (`last_message_sent_at`, spec TURN-3).
    pub started_at: Option<Timestamp>,
    /// Hash of that message.
    pub prompt_digest: Option<u64>,
    /// The last checkpoint of the turn (`last_checkpoint_at`).
    pub last_checkpoint_at: Option<Timestamp>,
    /// The first tool use of the turn (spec TURN-4).
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
    /// It was asked for by an agent restart, not by the agent (spec RESTART-1).
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
    /// The last prompt was this product's own text, and not the echo of a hook reply (spec DECIDE-9).
    pub own_prompt_last: bool,
    /// Somebody should look: the agent finished or asks. Cleared by a real user message only (spec LISTEN-2).
    pub notification: Option<String>,
    /// A dialog waits for a person.
    pub dialog_up: bool,
    /// The user's own commands told of how things stand now.
    pub told: bool,
    /// Hash of the output that was announced last (spec LISTEN-4).
    pub announced: Option<u64>,
    /// The person asked that the next stop pass (spec DECIDE-4).
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

/// A checkpoint on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Sequence number of the decision.
    pub decision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// How it travels.
    pub route: Route,
    /// The host's id of the turn that it was sent into.
    pub host_turn: Option<String>,
    /// What the agent demanded by it, for forgetting the demand if it fails.
    pub demand: Option<u64>,
    /// It left: only then can anything that follows confirm it.
    pub attempted: bool,
    /// Hash of its text, trimmed.
    pub digest: Option<u64>,
    /// How far typing it has come.
    pub typed: Typed,
    /// A later event that shows the agent has it: what showed it.
    pub seen_by: Option<String>,
}

/// Whether a session is switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mute {
    /// It is not.
    #[default]
    Off,
    /// Until a point in time.
    Until(Timestamp),
    /// Until somebody switches it on again.
    ForGood,
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
        let variable =
            agents::adapter(self.stream.agent).and_then(|agent| agent.variables().project);
        let named = variable.and_then(|name| self.place.env(name));
        named.unwrap_or(&self.place.cwd)
    }

    /// Returns when the current period of work began, by the given timer (spec TURN-3, TURN-4).
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

    /// Returns whether the session is switched off at `now`.
    pub fn is_muted(&self, now: Timestamp) -> bool {
        match self.muted {
            Mute::Off => false,
            Mute::ForGood => true,
            Mute::Until(until) => now < until,
        }
    }
}
