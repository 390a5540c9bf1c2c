//! A session's history, event by event: its place in a turn, and what it changed.

use journal::{Journal, SessionEntry};
use serde_json::json;

use super::cursor::Walks;
use super::question::{Emit, Result, send};
use crate::ops::views::{Place, TimelineLine, lane};

/// Emits a session's events from `from` on, each with its place in a turn.
pub(super) fn timeline(
    journal: &Journal,
    walks: &Walks,
    entry: &SessionEntry,
    turn: Option<u64>,
    from: u64,
    emit: &mut Emit<'_>,
) -> Result<()> {
    walks.along(journal, &entry.stream, from, |envelope, state, began| {
        if turn.is_some_and(|turn| turn != state.turns) {
            return Ok(());
        }
        let line = TimelineLine {
            event: envelope.clone(),
            place: Place {
                turn: state.turns,
                turn_began_at: state.turn.started_at.or(state.started_at),
                began_at: began,
            },
        };
        send(emit, &line)
    })
}

/// Emits a session's events from `from` on as the page's lanes show them.
pub(super) fn lanes(
    journal: &Journal,
    walks: &Walks,
    entry: &SessionEntry,
    from: u64,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let mut before = None;
    walks.along(journal, &entry.stream, from, |envelope, state, began| {
        let mut line = lane(envelope, began);
        // What is as in the line before is left out.
        if before.is_none() {
            line.insert("session".into(), json!(entry.stream.session));
            line.insert("agent".into(), json!(entry.stream.agent));
        }
        let turn = (state.turns, state.turn.started_at.or(state.started_at));
        if before.replace(turn) != Some(turn) {
            line.insert("turn".into(), turn.0.into());
            line.insert("turn_began_at".into(), json!(turn.1));
        }
        send(emit, &line)
    })
}
