//! Everything that can have happened: the one vocabulary that every part of the product reads.
//!
//! Facts are in the past tense and hold what the rest of the product needs of a hook call in a normal form; the raw
//! payload of the host is kept beside the event, never inside it. Stored in bincode: a variant keeps its position for
//! ever, new ones are added at the end, and a changed field means a new format version with an upcaster (`codec.rs`).

use serde::{Deserialize, Serialize};

use crate::Timestamp;

mod decision;
mod hook;
mod kinds;
mod record;

pub use decision::{
    Action, ChangedFile, Changes, Decision, Evidence, Reason, ReplyForm, Route, Step, Timeline,
    TimelineSource, Verdict,
};
pub use hook::{Agent, Host, Place, PromptOrigin, ToolCall, ToolKind};
pub use record::{Criterion, CriterionStatus, News, PhaseCheckpoint, ProgressKind};

/// One thing that has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session began, was resumed, cleared or compacted (`source` is the host's word).
    SessionStarted {
        /// Where it came from.
        host: Host,
        /// `startup`, `resume`, `clear`, `compact`, ..
        source: String,
    },
    /// A session ended.
    SessionEnded {
        /// Where it came from.
        host: Host,
        /// The host's word.
        reason: String,
    },
    /// A prompt was submitted, by whomever.
    PromptSubmitted {
        /// Where it came from.
        host: Host,
        /// Who wrote it.
        origin: PromptOrigin,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        text: String,
        /// Hash of the whole text, trimmed.
        digest: u64,
    },
    /// A tool call began.
    ToolStarted {
        /// Where it came from.
        host: Host,
        /// The call.
        call: ToolCall,
    },
    /// A tool call returned a result.
    ToolFinished {
        /// Where it came from.
        host: Host,
        /// The call, with its outcome.
        call: ToolCall,
    },
    /// A tool call failed in the host's own words.
    ToolFailed {
        /// Where it came from.
        host: Host,
        /// The call, with its outcome.
        call: ToolCall,
    },
    /// The model took a step: text shown, request sent, response received.
    ModelStepped {
        /// Where it came from.
        host: Host,
    },
    /// The agent stopped and asks, or tells, that its turn is over.
    AgentStopped {
        /// Where it came from.
        host: Host,
        /// The host says that this stop follows a blocked one. Never trusted alone.
        reentry: bool,
        /// Background tasks that still run.
        background_tasks: u32,
        /// The caller can continue the agent by its reply.
        can_reply: bool,
        /// Hash of the prompt that the host says the turn began with (Gemini), or was given last (Codex `notify`).
        prompt_digest: Option<u64>,
        /// The agent's last words, cut to [`Event::TEXT_BYTES_MAX`].
        last_message: Option<String>,
    },
    /// The turn ended without a stop that could be answered.
    Interrupted {
        /// Where it came from.
        host: Host,
        /// `user` or `api_error`.
        cause: String,
    },
    /// The host told the person something.
    Notified {
        /// Where it came from.
        host: Host,
        /// The host's word, for example `idle_prompt`.
        notification: String,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        message: String,
    },
    /// The host asks the person whether a tool may run: a dialog is up.
    PermissionAsked {
        /// Where it came from.
        host: Host,
        /// The call that waits.
        call: ToolCall,
    },
    /// The host begins, or may begin, to compact its context.
    CompactionStarted {
        /// Where it came from.
        host: Host,
        /// `manual` or `auto`.
        trigger: String,
    },
    /// The host has compacted its context.
    CompactionFinished {
        /// Where it came from.
        host: Host,
        /// `manual` or `auto`.
        trigger: String,
    },
    /// A subagent began.
    SubagentStarted {
        /// Where it came from.
        host: Host,
        /// The host's word for its kind.
        subagent_type: String,
    },
    /// A subagent stopped.
    SubagentStopped {
        /// Where it came from.
        host: Host,
        /// The host's word for its kind.
        subagent_type: String,
    },
    /// Any other hook call: kept, and otherwise without effect.
    OtherHook {
        /// Where it came from.
        host: Host,
    },
    /// What was looked up before a decision.
    EvidenceGathered {
        /// Sequence number of the stop it was gathered for.
        trigger: u64,
        /// What was found.
        evidence: Box<Evidence>,
    },
    /// A stop was decided about.
    Decided(Box<Decision>),
    /// A checkpoint is about to leave for its agent.
    DeliveryAttempted {
        /// Sequence number of the decision.
        decision: u64,
        /// How it travels.
        route: Route,
        /// Counts from 1.
        attempt: u32,
    },
    /// The agent was seen to have the checkpoint.
    DeliveryConfirmed {
        /// Sequence number of the decision.
        decision: u64,
        /// What showed it: `prompt_hook`, `next_event`, `transcript`, `notify`.
        by: String,
    },
    /// The checkpoint did not reach the agent and will not be tried again.
    DeliveryFailed {
        /// Sequence number of the decision.
        decision: u64,
        /// One word.
        reason: String,
    },
    /// Nobody can tell any more whether the checkpoint arrived.
    DeliveryExpired {
        /// Sequence number of the decision.
        decision: u64,
        /// One word: `session_ended`, `confirm_timeout`, `superseded` by a newer checkpoint.
        reason: String,
    },
    /// An agent restart was asked for; the checkpoint after it is due at a fixed time (spec RESTART-1).
    RestartRequested {
        /// When the unconditional checkpoint is due.
        due: Timestamp,
    },
    /// The escape hatch let a stop pass (spec DECIDE-4).
    EscapeHatchUsed {
        /// `marker` or `command`.
        by: String,
    },
    /// A person asked that the next stop pass.
    CheckpointCleared {},
    /// A person switched the session off.
    Muted {
        /// Until when; none is for good.
        until: Option<Timestamp>,
    },
    /// A person switched the session on again.
    Unmuted {},
    /// The daemon first decided under this policy.
    PolicyAdopted {
        /// Identifies the text.
        fingerprint: u64,
        /// The whole policy, as JSON.
        text: String,
    },
    /// A payload could not be read; it is kept raw.
    PayloadRejected {
        /// The word given as the agent.
        claimed_agent: String,
        /// The event name given, if any.
        hook: Option<String>,
        /// What was wrong with it.
        problem: String,
    },
    /// The daemon came up.
    DaemonStarted {
        /// Its version.
        version: String,
        /// What recovery found worth saying, one line each.
        recovery: Vec<String>,
    },
    /// What had changed already as a turn began, for `scope: turn`.
    BaselineTaken {
        /// When the turn began.
        turn_at: Timestamp,
        /// The changed files, as they were then.
        files: Vec<ChangedFile>,
    },
    /// A prompt was found in the transcript of an agent that tells of none (Codex with `notify` alone). It happened when
    /// the transcript says it did.
    PromptFound {
        /// The transcript.
        transcript: String,
        /// Who wrote it.
        origin: PromptOrigin,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        text: String,
        /// Hash of the text as it is here, trimmed.
        digest: u64,
    },
    /// A checkpoint that is to be typed waits for something. Said once for each thing.
    DeliveryHeld {
        /// Sequence number of the decision.
        decision: u64,
        /// One word, for example `dialog` or `draft_present`.
        obstacle: String,
    },
    /// A checkpoint was pasted into its agent's terminal; Enter is still to be pressed.
    DeliveryPasted {
        /// Sequence number of the decision.
        decision: u64,
        /// Which attempt it was.
        attempt: u32,
        /// The agent's process.
        pid: Option<u32>,
    },
    /// Enter is about to be pressed for a checkpoint that was pasted.
    DeliveryEntered {
        /// Sequence number of the decision.
        decision: u64,
        /// Counts from 1.
        count: u32,
    },
    /// The user's own commands are about to tell of something.
    Announced {
        /// Sequence number of the event that is told of.
        about: u64,
        /// What it is.
        news: News,
        /// Hash of the agent's last output, which is not told of twice (spec LISTEN-4); none where it is not known.
        output: Option<u64>,
    },
    /// The agent was stopped, and its resume command was typed into its terminal.
    AgentRestarted {
        /// When the unconditional checkpoint is due (spec RESTART-2), in place of the time that was set at the request.
        due: Timestamp,
    },
    /// A restart that was asked for gets no checkpoint of its own.
    RestartClosed {
        /// Sequence number of the request.
        restart: u64,
        /// One word: why it was refused (`no_terminal`, `pane_gone`, ..), `superseded` by a newer request, or
        /// `at_next_stop` where the checkpoint went out as the answer to a stop.
        reason: String,
    },
    /// A phase checkpoint was made (spec PHASE-3), or found in its folder and taken over.
    PhaseCreated {
        /// The checkpoint.
        checkpoint: Box<PhaseCheckpoint>,
        /// The project that it belongs to; none where nobody can tell.
        project: Option<String>,
        /// The name of its file.
        file: String,
        /// It was made by another program.
        imported: bool,
    },
    /// Nothing of a phase checkpoint is left to be resumed (spec PHASE-6).
    PhaseCompleted {
        /// The checkpoint's id.
        checkpoint: String,
    },
    /// A phase checkpoint was cleaned up (spec PHASE-7); its file goes.
    PhaseDeleted {
        /// The checkpoint's id.
        checkpoint: String,
    },
    /// A progress document was written (spec PROG-1); its file is a projection of this.
    ProgressWritten {
        /// Its type.
        progress: ProgressKind,
        /// The whole document, as JSON.
        document: String,
        /// The file that it was, or is about to be, written to.
        file: String,
    },
    /// A progress document was compared with how things are (spec PROG-10).
    ProgressValidated {
        /// Sequence number of the document's event.
        document: u64,
        /// All of it holds.
        holds: bool,
        /// What was found, line by line, as JSON.
        report: String,
    },
    /// A session that began is about to be told what there is to go on with.
    ResumeOffered {
        /// Sequence number of the session's start.
        start: u64,
        /// Sequence number of the progress document's event, where there is one.
        document: Option<u64>,
        /// The text as the agent gets it.
        text: String,
    },
}

impl Event {
    /// The longest prompt, message or last word that is kept in an event.
    pub const TEXT_BYTES_MAX: usize = 4 * 1024;

    /// Returns the host part of a hook event.
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

    /// Returns the machine word of the kind, as exports show it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::SessionEnded { .. } => "session_ended",
            Self::PromptSubmitted { .. } => "prompt_submitted",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolFinished { .. } => "tool_finished",
            Self::ToolFailed { .. } => "tool_failed",
            Self::ModelStepped { .. } => "model_stepped",
            Self::AgentStopped { .. } => "agent_stopped",
            Self::Interrupted { .. } => "interrupted",
            Self::Notified { .. } => "notified",
            Self::PermissionAsked { .. } => "permission_asked",
            Self::CompactionStarted { .. } => "compaction_started",
            Self::CompactionFinished { .. } => "compaction_finished",
            Self::SubagentStarted { .. } => "subagent_started",
            Self::SubagentStopped { .. } => "subagent_stopped",
            Self::OtherHook { .. } => "other_hook",
            Self::EvidenceGathered { .. } => "evidence_gathered",
            Self::Decided(_) => "decided",
            Self::DeliveryAttempted { .. } => "delivery_attempted",
            Self::DeliveryConfirmed { .. } => "delivery_confirmed",
            Self::DeliveryFailed { .. } => "delivery_failed",
            Self::DeliveryExpired { .. } => "delivery_expired",
            Self::RestartRequested { .. } => "restart_requested",
            Self::EscapeHatchUsed { .. } => "escape_hatch_used",
            Self::CheckpointCleared {} => "checkpoint_cleared",
            Self::Muted { .. } => "muted",
            Self::Unmuted {} => "unmuted",
            Self::PolicyAdopted { .. } => "policy_adopted",
            Self::PayloadRejected { .. } => "payload_rejected",
            Self::DaemonStarted { .. } => "daemon_started",
            Self::BaselineTaken { .. } => "baseline_taken",
            Self::PromptFound { .. } => "prompt_found",
            Self::DeliveryHeld { .. } => "delivery_held",
            Self::DeliveryPasted { .. } => "delivery_pasted",
            Self::DeliveryEntered { .. } => "delivery_entered",
            Self::Announced { .. } => "announced",
            Self::AgentRestarted { .. } => "agent_restarted",
            Self::RestartClosed { .. } => "restart_closed",
            Self::PhaseCreated { .. } => "phase_created",
            Self::PhaseCompleted { .. } => "phase_completed",
            Self::PhaseDeleted { .. } => "phase_deleted",
            Self::ProgressWritten { .. } => "progress_written",
            Self::ProgressValidated { .. } => "progress_validated",
            Self::ResumeOffered { .. } => "resume_offered",
        }
    }

    /// Returns whether an ack of this event may come before its fsync (spec JRNL-5).
    ///
    /// Tool and model events are many and each says little; all others wait for the disk.
    pub const fn may_be_batched(&self) -> bool {
        matches!(
            self,
            Self::ToolStarted { .. }
                | Self::ToolFinished { .. }
                | Self::ToolFailed { .. }
                | Self::ModelStepped { .. }
                | Self::OtherHook { .. }
        )
    }
}
