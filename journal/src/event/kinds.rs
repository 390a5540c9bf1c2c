//! The names of all kinds of events, and what a kind alone decides.

use super::Event;

macro_rules! kinds {
    ($($variant:ident = $word:literal,)*) => {
        impl Event {
            /// The names that [`Event::kind`] returns, in the order of the variants. `docs/journal.md` lists the fields of
            /// each.
            pub const KINDS: [&str; 54] = [$($word),*];

            /// Returns the name of the kind, as in exports.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                }
            }
        }
    };
}

kinds! {
    SessionStarted = "session_started",
    SessionEnded = "session_ended",
    PromptSubmitted = "prompt_submitted",
    ToolStarted = "tool_started",
    ToolFinished = "tool_finished",
    ToolFailed = "tool_failed",
    ModelStepped = "model_stepped",
    AgentStopped = "agent_stopped",
    Interrupted = "interrupted",
    Notified = "notified",
    PermissionAsked = "permission_asked",
    CompactionStarted = "compaction_started",
    CompactionFinished = "compaction_finished",
    SubagentStarted = "subagent_started",
    SubagentStopped = "subagent_stopped",
    OtherHook = "other_hook",
    EvidenceGathered = "evidence_gathered",
    Decided = "decided",
    DeliveryAttempted = "delivery_attempted",
    DeliveryConfirmed = "delivery_confirmed",
    DeliveryFailed = "delivery_failed",
    DeliveryExpired = "delivery_expired",
    RestartRequested = "restart_requested",
    EscapeHatchUsed = "escape_hatch_used",
    CheckpointCleared = "checkpoint_cleared",
    Muted = "muted",
    Unmuted = "unmuted",
    PolicyAdopted = "policy_adopted",
    PayloadRejected = "payload_rejected",
    DaemonStarted = "daemon_started",
    BaselineTaken = "baseline_taken",
    PromptFound = "prompt_found",
    DeliveryHeld = "delivery_held",
    DeliveryPasted = "delivery_pasted",
    DeliveryEntered = "delivery_entered",
    Announced = "announced",
    AgentRestarted = "agent_restarted",
    RestartClosed = "restart_closed",
    PhaseCreated = "phase_created",
    PhaseCompleted = "phase_completed",
    PhaseDeleted = "phase_deleted",
    ProgressWritten = "progress_written",
    ProgressValidated = "progress_validated",
    ResumeOffered = "resume_offered",
    FactsGathered = "facts_gathered",
    MarkedWrong = "marked_wrong",
    HeadSeen = "head_seen",
    TurnJoined = "turn_joined",
    Forgotten = "forgotten",
    RunReceived = "run_received",
    Withheld = "withheld",
    CallExamined = "call_examined",
    PaneShown = "pane_shown",
    WorkLeaves = "work_leaves",
}

impl Event {
    /// Returns whether a person ordered it. The payload of such an event says where the order came from.
    pub const fn is_order(&self) -> bool {
        matches!(
            self,
            Self::CheckpointCleared {}
                | Self::Muted { .. }
                | Self::Unmuted {}
                | Self::MarkedWrong { .. }
                | Self::PaneShown {}
        )
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
                | Self::WorkLeaves { .. }
        )
    }
}
