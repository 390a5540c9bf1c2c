//! The machine words of all kinds of events.

use crate::Event;

impl Event {
    /// The words that [`Event::kind`] returns, in the order of the variants. `docs/journal.md` says what each has.
    pub const KINDS: [&str; 38] = [
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
    ];
}
