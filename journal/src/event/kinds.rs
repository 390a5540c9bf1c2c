//! The names of all kinds of events, and what a kind alone decides.

use super::Event;

impl Event {
    /// The names that [`Event::kind`] returns, in the order of the variants. `docs/journal.md` lists the fields of each.
    pub const KINDS: [&str; 52] = [
        "session_started",
        "session_ended",
        "prompt_submitted",
        "tool_started",
        "tool_finished",
        "tool_failed",
        "model_stepped",
        "agent_stopped",
        "interrupted",
        "notified",
        "permission_asked",
        "compaction_started",
        "compaction_finished",
        "subagent_started",
        "subagent_stopped",
        "other_hook",
        "evidence_gathered",
        "decided",
        "delivery_attempted",
        "delivery_confirmed",
        "delivery_failed",
        "delivery_expired",
        "restart_requested",
        "escape_hatch_used",
        "checkpoint_cleared",
        "muted",
        "unmuted",
        "policy_adopted",
        "payload_rejected",
        "daemon_started",
        "baseline_taken",
        "prompt_found",
        "delivery_held",
        "delivery_pasted",
        "delivery_entered",
        "announced",
        "agent_restarted",
        "restart_closed",
        "phase_created",
        "phase_completed",
        "phase_deleted",
        "progress_written",
        "progress_validated",
        "resume_offered",
        "facts_gathered",
        "marked_wrong",
        "head_seen",
        "turn_joined",
        "forgotten",
        "run_received",
        "withheld",
        "call_examined",
    ];

    /// Returns the name of the kind, as in exports.
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
            Self::FactsGathered { .. } => "facts_gathered",
            Self::MarkedWrong { .. } => "marked_wrong",
            Self::HeadSeen { .. } => "head_seen",
            Self::TurnJoined { .. } => "turn_joined",
            Self::Forgotten {} => "forgotten",
            Self::RunReceived { .. } => "run_received",
            Self::Withheld { .. } => "withheld",
            Self::CallExamined { .. } => "call_examined",
        }
    }

    /// Returns whether an ack of this event may come before its fsync (spec JRNL-5).
    ///
    /// True for events about tools and models, which are many and matter little one by one.
    pub const fn may_be_batched(&self) -> bool {
        matches!(
            self,
            Self::ToolStarted { .. }
                | Self::ToolFinished { .. }
                | Self::ToolFailed { .. }
                | Self::ModelStepped { .. }
                | Self::OtherHook { .. }
                | Self::CallExamined { .. }
        )
    }
}
