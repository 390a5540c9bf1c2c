//! All events that the journal records: the vocabulary that every part of the product reads.
//!
//! Events are facts in the past tense. They hold the parts of a hook call that the product needs, in a form common to all
//! agents; the host's raw payload is stored beside the event, never inside it. Stored in bincode: a variant keeps its
//! position forever, new variants are added at the end, and a changed field needs a new format version with an upcaster
//! (`codec.rs`).

use serde::{Deserialize, Serialize};

use crate::Timestamp;

mod agent;
mod agent_name;
mod decision;
mod examined;
mod facts;
mod hook;
mod kinds;
mod numbers;
mod record;
mod run;
mod summary;
mod table;
mod workspace;

pub use agent::{Agent, AgentName, BadName};
pub use decision::{
    Action, ChangedFile, Changes, Decision, Evidence, Reason, ReplyForm, Route, Step, Timeline,
    TimelineSource, Verdict,
};
pub use examined::Examined;
pub use facts::as_json;
pub use facts::{CallOutcome, Facts, FileFacts, Seen};
pub use hook::{Host, Place, PromptOrigin, ToolCall, ToolKind};
pub use record::{Criterion, CriterionStatus, Notification, PhaseRecord, ProgressKind};
pub use run::Run;
pub use summary::{Summary, SummaryKind, SummaryVerdict};
pub use workspace::{Package, Task, Workspace};

table::events! {
    /// An event.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Event {
        /// A session started, or was resumed, cleared or compacted.
        SessionStarted = "session_started" {
            /// The calling host.
            host: Host,
            /// The host's word: `startup`, `resume`, `clear`, `compact`, ..
            source: String,
        },
        /// A session ended.
        SessionEnded = "session_ended" {
            /// The calling host.
            host: Host,
            /// The reason, as the host names it.
            reason: String,
        },
        /// A prompt was submitted, by a person or a program.
        PromptSubmitted = "prompt_submitted" {
            /// The calling host.
            host: Host,
            /// Who wrote it.
            origin: PromptOrigin,
            /// The text, cut to [`Event::TEXT_BYTES_MAX`].
            text: String,
            /// Hash of the complete text, trimmed.
            digest: u64,
        },
        /// A tool call started.
        ToolStarted = "tool_started" {
            /// The calling host.
            host: Host,
            /// The call.
            call: ToolCall,
        },
        /// A tool call returned a result.
        ToolFinished = "tool_finished" {
            /// The calling host.
            host: Host,
            /// The call, with its outcome.
            call: ToolCall,
        },
        /// A tool call failed, as the host reports it.
        ToolFailed = "tool_failed" {
            /// The calling host.
            host: Host,
            /// The call, with its outcome.
            call: ToolCall,
        },
        /// The model showed text, sent a request or received a response.
        ModelStepped = "model_stepped" {
            /// The calling host.
            host: Host,
        },
        /// The agent stopped at the end of its turn.
        AgentStopped = "agent_stopped" {
            /// The calling host.
            host: Host,
            /// The host reports that this stop follows a blocked one. Never trusted alone.
            reentry: bool,
            /// Number of background tasks that are still running.
            background_tasks: u32,
            /// The hook waits, and its reply can make the agent continue.
            can_reply: bool,
            /// Hash of the prompt that the host reports: the first of the turn (Gemini) or the last (Codex `notify`).
            prompt_digest: Option<u64>,
            /// The agent's last message, cut to [`Event::TEXT_BYTES_MAX`].
            last_message: Option<String>,
        },
        /// The turn ended without a stop hook.
        Interrupted = "interrupted" {
            /// The calling host.
            host: Host,
            /// `user` or `api_error`.
            cause: String,
        },
        /// The host showed the user a notification.
        Notified = "notified" {
            /// The calling host.
            host: Host,
            /// The host's name of it, for example `idle_prompt`.
            notification: String,
            /// The text, cut to [`Event::TEXT_BYTES_MAX`].
            message: String,
        },
        /// The host shows a dialog that asks the user whether a tool may run.
        PermissionAsked = "permission_asked" {
            /// The calling host.
            host: Host,
            /// The call that waits for permission.
            call: ToolCall,
        },
        /// The host starts, or may start, to compact its context.
        CompactionStarted = "compaction_started" {
            /// The calling host.
            host: Host,
            /// `manual` or `auto`.
            trigger: String,
        },
        /// The host has compacted its context.
        CompactionFinished = "compaction_finished" {
            /// The calling host.
            host: Host,
            /// `manual` or `auto`.
            trigger: String,
        },
        /// A subagent started.
        SubagentStarted = "subagent_started" {
            /// The calling host.
            host: Host,
            /// The host's name of its type.
            subagent_type: String,
        },
        /// A subagent stopped.
        SubagentStopped = "subagent_stopped" {
            /// The calling host.
            host: Host,
            /// The host's name of its type.
            subagent_type: String,
        },
        /// Any other hook call; recorded without further effect.
        OtherHook = "other_hook" {
            /// The calling host.
            host: Host,
        },
        /// Evidence was gathered for a decision.
        EvidenceGathered = "evidence_gathered" {
            /// Sequence number of the stop it was gathered for.
            trigger: u64,
            /// The evidence.
            evidence: Box<Evidence>,
        },
        /// The daemon decided whether a stop gets a checkpoint.
        Decided = "decided" (Box<Decision>),
        /// A checkpoint is about to be sent to its agent.
        DeliveryAttempted = "delivery_attempted" {
            /// Sequence number of the decision.
            decision: u64,
            /// The route of delivery.
            route: Route,
            /// Counts from 1.
            attempt: u32,
        },
        /// The agent has received the checkpoint.
        DeliveryConfirmed = "delivery_confirmed" {
            /// Sequence number of the decision.
            decision: u64,
            /// The source of the confirmation: `prompt_hook`, `next_event`, `transcript`, `notify`.
            by: String,
        },
        /// The checkpoint did not reach the agent and will not be sent again.
        DeliveryFailed = "delivery_failed" {
            /// Sequence number of the decision.
            decision: u64,
            /// The reason, one word.
            reason: String,
        },
        /// It can no longer be determined whether the checkpoint arrived.
        DeliveryExpired = "delivery_expired" {
            /// Sequence number of the decision.
            decision: u64,
            /// `session_ended`, `confirm_timeout`, or `superseded` by a newer checkpoint.
            reason: String,
        },
        /// A restart of the agent was requested; the checkpoint after it is due at a fixed time (spec RESTART-1).
        RestartRequested = "restart_requested" {
            /// When the unconditional checkpoint is due.
            due: Timestamp,
        },
        /// The escape hatch let a stop pass (spec DECIDE-4).
        EscapeHatchUsed = "escape_hatch_used" {
            /// `marker` or `command`.
            by: String,
        },
        /// A user asked for the next stop to pass.
        CheckpointCleared = "checkpoint_cleared" {},
        /// A user muted the session.
        Muted = "muted" {
            /// End of the mute; `None` for no end.
            until: Option<Timestamp>,
        },
        /// A user unmuted the session.
        Unmuted = "unmuted" {},
        /// The daemon used this policy for the first time.
        PolicyAdopted = "policy_adopted" {
            /// Hash of the text.
            fingerprint: u64,
            /// The complete policy, as JSON.
            text: String,
        },
        /// A payload could not be parsed; it is stored as it was sent.
        PayloadRejected = "payload_rejected" {
            /// The agent named by the call.
            claimed_agent: String,
            /// The event named by the call, if any.
            hook: Option<String>,
            /// What is wrong with the payload.
            problem: String,
        },
        /// The daemon started.
        DaemonStarted = "daemon_started" {
            /// Its version.
            version: String,
            /// Damage that opening the journal found and repaired, one line each.
            recovery: Vec<String>,
        },
        /// The files that were already changed at the start of a turn, for `scope: turn`.
        BaselineTaken = "baseline_taken" {
            /// Start of the turn.
            turn_at: Timestamp,
            /// The changed files with their contents at that time.
            files: Vec<ChangedFile>,
        },
        /// A prompt was found in the transcript of an agent without a prompt hook (Codex with only `notify`). Its time is the
        /// transcript's.
        PromptFound = "prompt_found" {
            /// Path of the transcript.
            transcript: String,
            /// Who wrote it.
            origin: PromptOrigin,
            /// The text, cut to [`Event::TEXT_BYTES_MAX`].
            text: String,
            /// Hash of the text as stored here, trimmed.
            digest: u64,
        },
        /// Typing a checkpoint waits for an obstacle to go. Recorded once for each obstacle.
        DeliveryHeld = "delivery_held" {
            /// Sequence number of the decision.
            decision: u64,
            /// One word, for example `dialog` or `draft_present`.
            obstacle: String,
        },
        /// A checkpoint was pasted into its agent's terminal; Enter is not pressed yet.
        DeliveryPasted = "delivery_pasted" {
            /// Sequence number of the decision.
            decision: u64,
            /// Number of the attempt, from 1.
            attempt: u32,
            /// Process id of the agent.
            pid: Option<u32>,
        },
        /// Enter is about to be pressed for a pasted checkpoint.
        DeliveryEntered = "delivery_entered" {
            /// Sequence number of the decision.
            decision: u64,
            /// Counts from 1.
            count: u32,
        },
        /// A notification is about to be sent to listeners.
        Announced = "announced" {
            /// Sequence number of the event it is about.
            about: u64,
            /// Kind of the notification.
            news: Notification,
            /// Hash of the agent's last output, if known; the same output is not announced twice (spec LISTEN-4).
            output: Option<u64>,
        },
        /// The agent was stopped, and its resume command was typed into its terminal.
        AgentRestarted = "agent_restarted" {
            /// When the unconditional checkpoint is due (spec RESTART-2); replaces the time set by the request.
            due: Timestamp,
        },
        /// A requested restart gets no checkpoint of its own.
        RestartClosed = "restart_closed" {
            /// Sequence number of the request.
            restart: u64,
            /// The reason of a refusal (`no_terminal`, `pane_gone`, ..), `superseded` by a newer request, or `at_next_stop`
            /// if the checkpoint was sent as the answer to a stop.
            reason: String,
        },
        /// A phase record was created (spec PHASE-3), or found in its folder and imported.
        PhaseCreated = "phase_created" {
            /// The phase record.
            checkpoint: Box<PhaseRecord>,
            /// The project that it belongs to, if known.
            project: Option<String>,
            /// Name of its file.
            file: String,
            /// Another program wrote the file.
            imported: bool,
        },
        /// A phase record was completed: no work is left to resume (spec PHASE-6).
        PhaseCompleted = "phase_completed" {
            /// Id of the phase record.
            checkpoint: String,
        },
        /// A phase record was deleted with its file (spec PHASE-7).
        PhaseDeleted = "phase_deleted" {
            /// Id of the phase record.
            checkpoint: String,
        },
        /// A progress document was written (spec PROG-1). Its file is rendered from this event.
        ProgressWritten = "progress_written" {
            /// Type of the document.
            progress: ProgressKind,
            /// The complete document, as JSON.
            document: String,
            /// Path of its file.
            file: String,
        },
        /// A progress document was compared with the state of the project (spec PROG-10).
        ProgressValidated = "progress_validated" {
            /// Sequence number of the document's event.
            document: u64,
            /// Whether every checked statement is true.
            holds: bool,
            /// The result for each line, as JSON.
            report: String,
        },
        /// A starting session is about to get a hint with the work that it can resume.
        ResumeOffered = "resume_offered" {
            /// Sequence number of the session's start.
            start: u64,
            /// Sequence number of the progress document's event, if the hint is based on one.
            document: Option<u64>,
            /// The text that the agent gets.
            text: String,
        },
        /// Facts were gathered for a decision, besides its evidence, which follows.
        FactsGathered = "facts_gathered" {
            /// Sequence number of the stop they were gathered for.
            trigger: u64,
            /// The facts.
            #[serde(with = "facts::as_json")]
            facts: Box<Facts>,
        },
        /// A person said that a demand of a checkpoint was not warranted, or took that back (spec DECIDE-21).
        MarkedWrong = "marked_wrong" {
            /// Sequence number of the decision.
            decision: u64,
            /// The demand's number in the decision, from 1; `None` for all of them.
            item: Option<u32>,
            /// What the person says about it.
            note: String,
            /// Whether it was wrong; `false` takes an earlier mark back.
            wrong: bool,
        },
        /// Where HEAD was as a turn began (spec FILES-4). Its time is that of the look.
        HeadSeen = "head_seen" {
            /// Start of the turn.
            turn_at: Timestamp,
            /// The top of the work tree.
            top: String,
            /// The commit; `None` in a repository without one.
            commit: Option<String>,
            /// Other branches' and tags' commits that are no older than the turn.
            tips: Vec<String>,
        },
        /// The agent handled a person's message while it worked, so the turn that the message seemed to begin is part of an
        /// earlier one (spec TURN-14).
        TurnJoined = "turn_joined" {
            /// Start of the earlier turn.
            turn_at: Timestamp,
        },
        /// An event with this number was imported from an agent's transcript and then removed (spec LOOK-8).
        Forgotten = "forgotten" {},
        /// A collector took in a run of another journal's events, which follow (spec FLEET-8).
        RunReceived = "run_received" {
            /// The run.
            run: Box<Run>,
        },
        /// Consecutive events of one session that the level of their machine withholds (spec FLEET-3).
        Withheld = "withheld" {
            /// How many they are.
            count: u64,
        },
        /// A tool call that could verify something ended, and was examined: what it printed, and which contents it ran on
        /// (spec EVID-4).
        CallExamined = "call_examined" {
            /// The host's id of the call.
            call_id: Option<String>,
            /// When the call began, as in the calls of its session.
            call_at: Timestamp,
            /// What was read.
            #[serde(with = "facts::as_json")]
            examined: Box<Examined>,
        },
        /// A person had tmux show the session's pane, from the page or from `top`.
        PaneShown = "pane_shown" {},
        /// The agent is about to run a command by which work leaves the machine, or hands over a part of its work (spec
        /// DECIDE-25, DECIDE-26). The event before it is the call's.
        WorkLeaves = "work_leaves" {
            /// The command line, cut to [`Event::TEXT_BYTES_MAX`]; none for a part.
            command: Option<String>,
            /// The subagent whose part it is; none for a part of the agent itself.
            subagent: Option<String>,
            /// The host's id of the turn.
            host_turn: Option<String>,
        },
    }
}

impl Event {
    /// Maximum size of a prompt or message in an event.
    pub const TEXT_BYTES_MAX: usize = 4 * 1024;

    /// Returns the host fields of a hook event.
    pub fn host(&self) -> Option<&Host> {
        match self {
            Self::SessionStarted { host, .. }
            | Self::SessionEnded { host, .. }
            | Self::PromptSubmitted { host, .. }
            | Self::ToolStarted { host, .. }
            | Self::ToolFinished { host, .. }
            | Self::ToolFailed { host, .. }
            | Self::ModelStepped { host }
            | Self::AgentStopped { host, .. }
            | Self::Interrupted { host, .. }
            | Self::Notified { host, .. }
            | Self::PermissionAsked { host, .. }
            | Self::CompactionStarted { host, .. }
            | Self::CompactionFinished { host, .. }
            | Self::SubagentStarted { host, .. }
            | Self::SubagentStopped { host, .. }
            | Self::OtherHook { host } => Some(host),
            _ => None,
        }
    }
}
