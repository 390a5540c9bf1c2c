//! Hook calls for the tests of agents.

use journal::{Agent, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::{HookCall, Normal, Reading, normalize};

/// Reads a hook call. `event` is the one on the command line.
pub(crate) fn called(agent: Agent, event: Option<&str>, payload: &Value) -> Normal {
    called_as(Uuid::nil(), agent, event, payload)
}

/// Reads a hook call with an id.
pub(crate) fn called_as(id: Uuid, agent: Agent, event: Option<&str>, payload: &Value) -> Normal {
    let payload = payload.to_string();
    let call = HookCall {
        agent,
        event,
        payload: payload.as_bytes(),
        at: Timestamp::default(),
        id,
        env: Vec::new(),
        truncated: false,
    };
    let reading = Reading {
        prefix: "[TeleClaude Checkpoint] - ",
        payload_bytes_max: 1024,
        redactor: redact::built_in(),
        agents: &(),
    };
    normalize(&call, reading).expect("a good payload")
}
