//! The state of a session, and the differences between two states.

use checkpoint::state::{Counts, Delivery, SessionState, Stop};
use journal::{Agent, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateView {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    /// Sequence number of the last event.
    pub(crate) seq: u64,
    pub(crate) at: Option<Timestamp>,
    pub(crate) project: String,
    pub(crate) cwd: String,
    pub(crate) transcript: Option<String>,
    pub(crate) running: bool,
    pub(crate) turn: u64,
    pub(crate) last_message_sent_at: Option<Timestamp>,
    pub(crate) last_checkpoint_at: Option<Timestamp>,
    pub(crate) last_tool_use_at: Option<Timestamp>,
    pub(crate) first_tool_use_at: Option<Timestamp>,
    pub(crate) blocks_this_turn: u32,
    pub(crate) notification: Option<String>,
    pub(crate) dialog_up: bool,
    pub(crate) cleared: bool,
    /// At the time of the last event.
    pub(crate) muted: bool,
    /// When the mute ends; none if it does not end by itself.
    pub(crate) muted_until: Option<Timestamp>,
    pub(crate) own_prompt_last: bool,
    pub(crate) delivery: Option<Delivery>,
    pub(crate) pending: Vec<Stop>,
    pub(crate) restart: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) counts: Counts,
    pub(crate) calls: Vec<ToolCall>,
    /// Its machine withholds a part of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) withheld: bool,
}

impl StateView {
    pub(crate) fn new(state: &SessionState) -> Self {
        Self {
            session: state.stream.session,
            native_session: state.stream.native(),
            agent: state.stream.agent,
            seq: state.last_seq,
            at: state.last_at,
            project: state.project().to_owned(),
            cwd: state.place.cwd.clone(),
            transcript: state.place.transcript.clone(),
            running: state.running,
            turn: state.turns,
            last_message_sent_at: state.turn.started_at,
            last_checkpoint_at: state.turn.last_checkpoint_at,
            last_tool_use_at: state.turn.last_tool_use_at,
            first_tool_use_at: state.turn.first_tool_use_at,
            blocks_this_turn: state.blocks_this_turn(),
            notification: state.notification.clone(),
            dialog_up: state.dialog_up,
            cleared: state.cleared,
            muted: state.is_muted(state.last_at.unwrap_or_default()),
            muted_until: state.muted_until(state.last_at.unwrap_or_default()),
            own_prompt_last: state.own_prompt_last,
            delivery: state.delivery.clone(),
            pending: state.pending.clone(),
            restart: state.restart.map(|(_, due)| due),
            started_at: state.started_at,
            ended_at: state.ended_at,
            counts: state.counts,
            calls: state.turn.calls.clone(),
            withheld: state.withheld,
        }
    }

    /// Returns the fields by their JSON names.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// Returns the fields in which a later state differs. `seq` and `at` always do, and are left out.
    pub(crate) fn differences(&self, later: &Self) -> Vec<Changed> {
        differences(&self.fields().into(), &later.fields().into())
    }
}

/// One field in which two states differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changed {
    /// A dot leads to a part of a field.
    pub(crate) field: String,
    /// The old value; of a list only what the new one lacks.
    pub(crate) was: Value,
    /// The new value; of a list only what the old one lacks.
    pub(crate) now: Value,
}

fn differences(was: &Value, now: &Value) -> Vec<Changed> {
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
                let value =
                    |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
