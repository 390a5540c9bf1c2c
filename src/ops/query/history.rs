//! A session's history, event by event: where each stands in its turn, and what each changed.

use checkpoint::state::SessionState;
use journal::{Envelope, Journal, SessionEntry, codec};
use serde_json::{Value, json};

use super::cursor::Walks;
use super::question::{Emit, Result, send};
use crate::ops::views::{self, Changed};

/// Emits a session's events from `from` on, each with `turn`, `turn_began_at` (before the first turn: when the session
/// began), and for ends of tool calls `began_at`.
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
        let mut line = views::without_payload(codec::to_json(envelope, None));
        line["turn"] = state.turns.into();
        line["turn_began_at"] = json!(state.turn.started_at.or(state.started_at));
        if let Some(began) = began {
            line["began_at"] = json!(began);
        }
        send(emit, line)
    })
}

/// Emits a session's events from `from` on as the page's lanes show them: see [`views::brief`]. What is true of all of
/// them, and what is as in the line before, is left out.
pub(super) fn lanes(
    journal: &Journal,
    walks: &Walks,
    entry: &SessionEntry,
    from: u64,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let mut before = None;
    walks.along(journal, &entry.stream, from, |envelope, state, began| {
        let mut line = views::brief(envelope, began);
        let turn = (state.turns, state.turn.started_at.or(state.started_at));
        if before.is_none() {
            line["session"] = entry.stream.session.to_string().into();
            line["agent"] = entry.stream.agent.word().into();
        }
        if before != Some(turn) {
            line["turn"] = turn.0.into();
            line["turn_began_at"] = json!(turn.1);
            before = Some(turn);
        }
        send(emit, line)
    })
}

/// Emits `{"event", "changes":[{"field","was","now"}]}` for each event of a session.
pub(super) fn steps(journal: &Journal, entry: &SessionEntry, emit: &mut Emit<'_>) -> Result<()> {
    let mut state = SessionState::new(entry.stream.clone());
    for envelope in journal.stream(entry.stream.session, 0, usize::MAX)? {
        send(emit, step(&mut state, &envelope))?;
    }
    Ok(())
}

/// Folds one event and returns it with what it changed.
pub(crate) fn step(state: &mut SessionState, envelope: &Envelope) -> Value {
    let was = views::state(state);
    state.apply(envelope);
    let changes: Vec<Changed> = views::differences(&was, &views::state(state));
    let event = views::without_payload(codec::to_json(envelope, None));
    json!({ "event": event, "changes": changes })
}
