//! Whether a session of Codex CLI runs without a person.

use serde::Deserialize;
use serde_json::Value;

/// Returns whether a session runs without a person, by the beginning of its rollout.
///
/// Only the first line says so, and in a long session it is not in the tail.
pub(super) fn is_exec(beginning: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Line {
        payload: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        source: Option<Value>,
    }
    let first = beginning
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    serde_json::from_slice::<Line>(first)
        .is_ok_and(|line| line.payload.source.is_some_and(|source| source == "exec"))
}
