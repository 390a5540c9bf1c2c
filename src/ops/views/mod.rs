//! What the journal's things look like as JSON: the shapes that the machine interface promises.

use checkpoint::findings::Findings;
use checkpoint::phase::{self, Phase};
use checkpoint::state::SessionState;
use journal::{Decision, Envelope, Event, Outcome, SessionEntry, Timeline, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

mod brief;
mod trace;

pub(crate) use brief::brief;

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
        "cleared": state.cleared,
        "restart": state.restart.map(|(_, due)| due),
        "delivering": state.delivery.as_ref().map(|delivery| delivery.decision),
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

/// One field in which two states differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changed {
    /// Its name; a dot leads to a part of it.
    pub(crate) field: String,
    /// Before; of a list only what is not in the other one.
    pub(crate) was: Value,
    /// After, likewise.
    pub(crate) now: Value,
}

/// Returns the fields in which two states, as [`state`] shows them, differ. `seq` and `at` always do, and are left out.
pub(crate) fn differences(was: &Value, now: &Value) -> Vec<Changed> {
    let mut changed = Vec::new();
    compare("", was, now, &mut changed);
    changed.retain(|change| change.field != "seq" && change.field != "at");
    changed
}

fn compare(field: &str, was: &Value, now: &Value, changed: &mut Vec<Changed>) {
    match (was, now) {
        _ if was == now => {}
        (Value::Object(before), Value::Object(after)) => {
            for name in before
                .keys()
                .chain(after.keys().filter(|name| !before.contains_key(*name)))
            {
                let path = if field.is_empty() {
                    name.clone()
                } else {
                    format!("{field}.{name}")
                };
                let value = |fields: &serde_json::Map<String, Value>| {
                    fields.get(name).cloned().unwrap_or_default()
                };
                compare(&path, &value(before), &value(after), changed);
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            let only = |these: &[Value], others: &[Value]| {
                these
                    .iter()
                    .filter(|item| !others.contains(item))
                    .cloned()
                    .collect::<Value>()
            };
            changed.push(Changed {
                field: field.into(),
                was: only(before, after),
                now: only(after, before),
            });
        }
        _ => changed.push(Changed {
            field: field.into(),
            was: was.clone(),
            now: now.clone(),
        }),
    }
}

/// A decision in a list. `obstacle` is the word for what its delivery waits for, or why there was none.
pub(crate) fn decision(
    envelope: &Envelope,
    decision: &Decision,
    outcome: Outcome,
    obstacle: Option<&str>,
) -> Value {
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

/// What the rules found in this timeline.
pub(crate) fn rules(findings: &Findings, timeline: &Timeline) -> Value {
    json!({
        "categories": findings.categories,
        "actions": findings.actions,
        "observations": findings.observations,
        "all_clear": findings.all_clear,
        "docs_only": findings.docs_only,
        "generic": findings.generic,
        "unresolved": findings.unresolved,
        "trace": trace::trace(&findings.trace, timeline),
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

/// A phase checkpoint: the fields of its file, and what only the journal knows (spec PHASE-1).
pub(crate) fn phase(phase: &Phase) -> Value {
    let mut view = phase::file::json(&phase.checkpoint);
    view["project"] = json!(phase.project);
    view["file"] = phase.file.as_str().into();
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_differ_in_parts_and_in_what_lists_gained() {
        let was = json!({ "seq": 1, "at": "a", "turn": 1, "counts": { "stops": 1, "tools": 2 }, "calls": [1, 2], "gone": 5 });
        let now = json!({ "seq": 2, "at": "b", "turn": 1, "counts": { "stops": 2, "tools": 2 }, "calls": [2, 3] });
        let found = differences(&was, &now);
        let found: Vec<_> = found
            .iter()
            .map(|it| format!("{} {} -> {}", it.field, it.was, it.now))
            .collect();
        assert_eq!(
            found,
            ["counts.stops 1 -> 2", "calls [1] -> [3]", "gone 5 -> null"]
        );
        assert_eq!(differences(&now, &now), []);
    }
}
