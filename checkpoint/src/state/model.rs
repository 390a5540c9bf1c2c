//! The state of a session, as plain data.

use journal::{Place, Route, Stream, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ended::{Ended, ExaminedCall};
use crate::agents;
use crate::policy::Timer;
use crate::progress::Worked;
use crate::terminal::Typed;

/// Version of the snapshot format; snapshots of other versions are not read.
pub const SNAPSHOT_VERSION: u32 = 17;
/// The most subagents of one session that are remembered.
pub(super) const SUBAGENTS_MAX: usize = 64;
/// The most files that subagents edited in one turn and that are remembered.
pub(super) const PARTS_MAX: usize = 512;

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
    /// What each subagent edited, as it named the files; at most 512.
    pub parts: Vec<(String, String)>,
    /// The files that had changed before it began (`scope: turn`); `None` when they are not known.
    pub baseline: Option<Vec<journal::ChangedFile>>,
    /// When that was seen.
    pub baseline_at: Option<Timestamp>,
    /// Sequence number of the event that began it: unlike its time, it is in the journal's order.
    pub seq: u64,
    /// Where HEAD was when the turn began, if it was recorded.
    pub head: Option<Head>,
    /// The host's id of it.
    pub host_turn: Option<String>,
    /// The last message that a person added to it, if any.
    pub added: Option<u64>,
    /// What the person asked for, also while the agent worked, oldest first, as it was journaled; the last few.
    pub prompts: Vec<String>,
    /// Calls that ended and were not examined so far, in the order of their ends.
    pub waiting: Vec<Ended>,
    /// What was read of the calls that were examined.
    pub examined: Vec<ExaminedCall>,
}

/// Where HEAD was as a turn began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// When this was seen.
    pub at: Timestamp,
    /// The top of the work tree.
    pub top: String,
    /// The commit; `None` in a repository without one.
    pub commit: Option<String>,
    /// Other commits of that time that could be taken for the turn's.
    pub tips: Vec<String>,
}

/// A checkpoint that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// When it was decided.
    pub at: Timestamp,
    /// The host's id of the turn it was sent into.
    pub host_turn: Option<String>,
    /// The demand that it made.
    pub demand: Option<u64>,
}

/// A stop, or a command by which work leaves, without a decision so far.
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
    /// The agent does not stop, but hands work over.
    pub leaves: Option<Leaving>,
}

/// Work that is handed over before the agent stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// The command by which it leaves (spec DECIDE-25); none if a part of it is done (spec DECIDE-26).
    pub command: Option<String>,
    /// The subagent whose work it is.
    pub subagent: Option<String>,
}

/// Counts of a session's events.
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
    /// Stops that passed.
    pub passed: u64,
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// Agent and id of the session.
    pub stream: Stream,
    /// The last event that was applied.
    pub last_seq: u64,
    /// When the last event happened.
    pub last_at: Option<Timestamp>,
    /// When its last hook call was made. Events of the daemon do not count: they would make a
    /// spooled call look late.
    pub heard_at: Option<Timestamp>,
    /// Where the agent runs, by its last hook call.
    pub place: Place,
    /// When the first event happened.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When the agent stopped last.
    pub stopped_at: Option<Timestamp>,
    /// Whether the agent works.
    pub running: bool,
    /// The number of real user messages.
    pub turns: u64,
    /// The current turn.
    pub turn: Turn,
    /// The previous turn, to undo a turn that hook feedback seemed to begin (Gemini).
    pub previous: Option<Box<Turn>>,
    /// An earlier turn with the host's id of the current one: the message that began the current one was typed while the
    /// agent worked.
    pub ahead: Option<Box<Turn>>,
    /// The folder in which it began, or was resumed.
    pub home: String,
    /// The repository that its project is a clone of, as last reported.
    pub remote: Option<String>,
    /// The host reports prompts by a hook, so the transcript need not be searched.
    pub prompts_by_hook: bool,
    /// The last prompt was our own typed text, not the echo of a hook reply (spec DECIDE-9).
    pub own_prompt_last: bool,
    /// Why the agent needs a person: it finished or asks. Cleared only by a real user message
    /// (spec LISTEN-2).
    pub notification: Option<String>,
    /// A dialog waits for a person.
    pub dialog_up: bool,
    /// The current state was announced to listeners.
    pub told: bool,
    /// Hash of the output that was announced last (spec LISTEN-4).
    pub announced: Option<u64>,
    /// The next stop passes by order of a person (spec DECIDE-4).
    pub cleared: bool,
    /// Whether the session is muted.
    pub muted: Mute,
    /// The host's id of the turn of the last decision.
    pub decided_turn: Option<String>,
    /// Stops that wait for their decision, oldest first, at most `PENDING_MAX`.
    pub pending: Vec<Stop>,
    /// A restart whose checkpoint is due: sequence number and time.
    pub restart: Option<(u64, Timestamp)>,
    /// The open delivery.
    pub delivery: Option<Delivery>,
    /// Demands that were delivered in this session.
    pub demands: Vec<u64>,
    /// The last decision that sent a checkpoint.
    pub sent: Option<u64>,
    /// The files that the last decision looked at, and those behind the last demand until it is met.
    pub open: Open,
    /// The agent's last message at a stop that passed.
    pub last_output: Option<String>,
    /// Counts of a session's events.
    pub counts: Counts,
    /// How long the agent has worked.
    pub worked: Worked,
    /// The progress document that was written last.
    pub progress: Option<Written>,
    /// The first message of a person, cut to one line.
    pub title: Option<String>,
    /// The subagents whose calls the hooks report, by the host's ids, the latest 64.
    pub subagents: Vec<String>,
    /// A hook call showed an agent in the session; a stop alone does not.
    pub opened: bool,
    /// A collector has the session, and its machine withholds a part of it: what is missing here says nothing.
    pub withheld: bool,
    /// The last event was recorded at a time before the turn's beginning, although it comes after it.
    #[serde(skip)]
    pub clock_went_back: bool,
}

/// What the session changed and left open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The changed files of the last stop that was examined.
    pub seen: Vec<String>,
    /// The files of the last demand that is not met, relative to the top of the work tree.
    pub files: Vec<String>,
}

/// A progress document that was written, with the counts of the session at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Sequence number of its event.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Sequence number of the last full document.
    pub full: Option<u64>,
    /// The agent's working time by then, in milliseconds.
    pub worked_ms: u64,
    /// The counts by then.
    pub counts: Counts,
    /// The number of real user messages.
    pub turns: u64,
}

/// The delivery of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Sequence number of the decision.
    pub decision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// How it is delivered.
    pub route: Route,
    /// The host's id of the turn that it was sent into.
    pub host_turn: Option<String>,
    /// The demand that it made, which is forgotten if it fails.
    pub demand: Option<u64>,
    /// It was sent: only then can a later event confirm it.
    pub attempted: bool,
    /// Hash of its text, trimmed.
    pub digest: Option<u64>,
    /// The progress of typing it.
    pub typed: Typed,
    /// The kind of event that showed that the agent has it.
    pub seen_by: Option<String>,
    /// It holds back a tool call.
    pub holds_call: bool,
}

/// Whether a session is switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mute {
    /// Not muted.
    #[default]
    Off,
    /// Muted until a point in time.
    Until(Timestamp),
    /// Muted until a person unmutes it.
    ForGood,
}

impl Turn {
    /// Returns when its current period of work began, by the given timer.
    pub fn start(&self, timer: Timer) -> Option<Timestamp> {
        match timer {
            Timer::Unified => self.started_at.max(self.last_checkpoint_at),
            // A checkpoint at or after the first tool use means no new activity, so nothing is
            // timed.
            Timer::FirstToolUse => self
                .first_tool_use_at
                .filter(|first| self.last_checkpoint_at.is_none_or(|last| last < *first)),
        }
    }
}

impl SessionState {
    /// Creates the state of a session without events.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            ..Self::default()
        }
    }

    /// Returns the session's id.
    pub const fn session(&self) -> Uuid {
        self.stream.session
    }

    /// Returns the project: the folder that the agent names, else its working directory.
    pub fn project(&self) -> &str {
        let variable = agents::adapter(self.stream.agent).and_then(|agent| agent.variables.project);
        let named = variable.and_then(|name| self.place.env(name));
        named.unwrap_or(&self.place.cwd)
    }

    /// Returns the folder in which the session began. Unlike its working directory, it does not follow the agent's `cd`.
    pub fn home(&self) -> &str {
        if self.home.is_empty() {
            self.project()
        } else {
            &self.home
        }
    }

    /// Returns when the current period of work began, by the given timer (spec TURN-3, TURN-4).
    pub fn turn_start(&self, timer: Timer) -> Option<Timestamp> {
        self.turn.start(timer)
    }

    /// Returns how many checkpoints the current turn has had.
    pub fn blocks_this_turn(&self) -> u32 {
        u32::try_from(self.turn.blocks.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether the session is muted at `now`.
    pub fn is_muted(&self, now: Timestamp) -> bool {
        match self.muted {
            Mute::Off => false,
            Mute::ForGood => true,
            Mute::Until(until) => now < until,
        }
    }

    /// Returns when a mute that holds at `now` ends; nothing if it does not end by itself.
    pub fn muted_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self.muted {
            Mute::Until(until) if now < until => Some(until),
            _ => None,
        }
    }
}
