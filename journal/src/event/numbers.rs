//! The sequence numbers that events hold of other events.

use super::Event;

impl Event {
    /// Hands every sequence number of another event to `each`. A new kind of event has to be added here: a collector
    /// gives events other numbers.
    ///
    /// # Errors
    ///
    /// The first error of `each`.
    pub fn each_number<E>(
        &mut self,
        mut each: impl FnMut(&mut u64) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::EvidenceGathered { trigger, .. } | Self::FactsGathered { trigger, .. } => {
                each(trigger)
            }
            Self::Decided(decision) => {
                each(&mut decision.trigger)?;
                each(&mut decision.basis)
            }
            Self::DeliveryAttempted { decision, .. }
            | Self::DeliveryConfirmed { decision, .. }
            | Self::DeliveryFailed { decision, .. }
            | Self::DeliveryExpired { decision, .. }
            | Self::DeliveryHeld { decision, .. }
            | Self::DeliveryPasted { decision, .. }
            | Self::DeliveryEntered { decision, .. }
            | Self::MarkedWrong { decision, .. } => each(decision),
            Self::Announced { about, .. } => each(about),
            Self::RestartClosed { restart, .. } => each(restart),
            Self::ProgressValidated { document, .. } => each(document),
            Self::ResumeOffered {
                start, document, ..
            } => {
                each(start)?;
                document.as_mut().map_or(Ok(()), each)
            }
            Self::SessionStarted { .. }
            | Self::SessionEnded { .. }
            | Self::PromptSubmitted { .. }
            | Self::ToolStarted { .. }
            | Self::ToolFinished { .. }
            | Self::ToolFailed { .. }
            | Self::ModelStepped { .. }
            | Self::AgentStopped { .. }
            | Self::Interrupted { .. }
            | Self::Notified { .. }
            | Self::PermissionAsked { .. }
            | Self::CompactionStarted { .. }
            | Self::CompactionFinished { .. }
            | Self::SubagentStarted { .. }
            | Self::SubagentStopped { .. }
            | Self::OtherHook { .. }
            | Self::RestartRequested { .. }
            | Self::EscapeHatchUsed { .. }
            | Self::CheckpointCleared {}
            | Self::Muted { .. }
            | Self::Unmuted {}
            | Self::PolicyAdopted { .. }
            | Self::PayloadRejected { .. }
            | Self::DaemonStarted { .. }
            | Self::BaselineTaken { .. }
            | Self::PromptFound { .. }
            | Self::AgentRestarted { .. }
            | Self::PhaseCreated { .. }
            | Self::PhaseCompleted { .. }
            | Self::PhaseDeleted { .. }
            | Self::ProgressWritten { .. }
            | Self::HeadSeen { .. }
            | Self::TurnJoined { .. }
            | Self::Forgotten {}
            | Self::RunReceived { .. }
            | Self::Withheld { .. }
            | Self::CallExamined { .. }
            | Self::PaneShown {}
            | Self::WorkLeaves { .. } => Ok(()),
        }
    }
}
