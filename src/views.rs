//! What the journal's things look like as JSON: the shapes that the machine interface promises.

use checkpoint::findings::Findings;
use checkpoint::phase::{self, Phase};
use checkpoint::state::SessionState;
use journal::{Decision, Envelope, Event, Outcome, SessionEntry, Timestamp};
use serde_json::{Value, json};

/// A session in a list.
pub(crate) fn session(entry: &SessionEntry, state: &SessionState) -> Value {
    json!({
        "session": entry.stream.session,
        "native_session": entry.stream.native(),
        "agent": entry.stream.agent,
        "project": state.project(),
        "turn": state.turns,
        "running": state.running,
        "ended": state.ended_at.is_some(),
        "notification": state.notification,
        "dialog_up": state.dialog_up,
        "muted": state.is_muted(Timestamp::now()),
        "blocks_this_turn": state.blocks_this_turn(),
        "first_at": entry.first_at,
        "last_at": entry.last_at,
        "events": entry.events,
        "injected": state.counts.injected,
        "passed": state.counts.passed,
    })
}

/// All that is known of a session.
pub(crate) fn state(state: &SessionState) -> Value {
    json!({
        "session": state.stream.session,
        "native_session": state.stream.native(),
        "agent": state.stream.agent,
        "seq": state.last_seq,
        "at": state.last_at,
        "project": state.project(),
        "cwd": state.place.cwd,
        "transcript": state.place.transcript,
        "running": state.running,
        "turn": state.turns,
        "last_message_sent_at": state.turn.started_at,
        "last_checkpoint_at": state.turn.last_checkpoint_at,
        "last_tool_use_at": state.turn.last_tool_use_at,
        "first_tool_use_at": state.turn.first_tool_use_at,
        "blocks_this_turn": state.blocks_this_turn(),
        "notification": state.notification,
        "dialog_up": state.dialog_up,
        "cleared": state.cleared,
        "muted": state.muted,
        "own_prompt_last": state.own_prompt_last,
        "delivery": state.delivery,
        "pending": state.pending,
        "restart": state.restart.map(|(_, due)| due),
        "started_at": state.started_at,
        "ended_at": state.ended_at,
        "counts": state.counts,
        "calls": state.turn.calls,
    })
}

/// A decision in a list. `obstacle` is the word for what its delivery waits for, or why there was none.
pub(crate) fn decision(envelope: &Envelope, decision: &Decision, outcome: Outcome, obstacle: Option<&str>) -> Value {
    json!({
        "seq": envelope.seq,
        "at": envelope.at,
        "session": envelope.stream.session,
        "native_session": envelope.stream.native(),
        "agent": envelope.stream.agent,
        "turn": decision.turn,
        "trigger": decision.trigger,
        "verdict": decision.verdict,
        "reason": decision.reason,
        "route": decision.route,
        "elapsed_ms": decision.elapsed_ms,
        "delivery": outcome,
        "delivery_reason": obstacle,
        "categories": decision.categories,
        "actions": decision.actions,
        "observations": decision.observations,
        "all_clear": decision.all_clear,
        "message": decision.message,
    })
}

/// What the rules found.
pub(crate) fn rules(findings: &Findings) -> Value {
    json!({
        "categories": findings.categories,
        "actions": findings.actions,
        "observations": findings.observations,
        "all_clear": findings.all_clear,
        "docs_only": findings.docs_only,
        "generic": findings.generic,
        "unresolved": findings.unresolved,
        "trace": findings.trace,
    })
}

/// Tells whether an event is about the delivery of a decision.
pub(crate) fn is_delivery_of(event: &Event, seq: u64) -> bool {
    match event {
        Event::DeliveryAttempted { decision, .. }
        | Event::DeliveryHeld { decision, .. }
        | Event::DeliveryPasted { decision, .. }
        | Event::DeliveryEntered { decision, .. }
        | Event::DeliveryConfirmed { decision, .. }
        | Event::DeliveryFailed { decision, .. }
        | Event::DeliveryExpired { decision, .. } => *decision == seq,
        _ => false,
    }
}

/// Takes the payload out of an event's line.
pub(crate) fn without_payload(mut line: Value) -> Value {
    if let Value::Object(fields) = &mut line {
        fields.shift_remove("payload");
    }
    line
}

/// A phase checkpoint: its state as 003 has it, and what we know besides.
pub(crate) fn phase(phase: &Phase) -> Value {
    let mut view = phase::file::json(&phase.checkpoint);
    view["project"] = json!(phase.project);
    view["file"] = phase.file.as_str().into();
    view
}
