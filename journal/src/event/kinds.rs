//! What the kind of an event alone decides.

use super::Event;

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
