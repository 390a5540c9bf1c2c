//! A session's history, event by event: where each stands in its turn, and what each changed.

use checkpoint::state::SessionState;
use journal::{Envelope, Event, Journal, SessionEntry, Timestamp, ToolCall, codec};
use serde_json::{Value, json};

use super::{Emit, Result, send};
use crate::views::{self, Changed};

/// Tool calls that were begun and have not ended yet.
#[derive(Default)]
struct Running(Vec<(ToolCall, Timestamp)>);

impl Running {
    /// Notes a beginning; returns for an end when the call began, as far as the journal tells.
    fn follow(&mut self, envelope: &Envelope) -> Option<Timestamp> {
        match &envelope.event {
            Event::ToolStarted { call, .. } => {
                self.0.push((call.clone(), envelope.at));
                None
            }
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                // Gemini's hooks have no ids.
                let same = |(known, _): &(ToolCall, Timestamp)| match &call.id {
                    Some(id) => known.id.as_ref() == Some(id),
                    None => known.tool == call.tool && known.command == call.command && known.paths == call.paths,
                };
                let begun = self.0.iter().position(same).map(|index| self.0.remove(index).1);
                let took = call.duration_ms.map(std::time::Duration::from_millis);
                Some(begun.or_else(|| took.map(|took| envelope.at.minus(took))).unwrap_or(envelope.at))
            }
            _ => None,
        }
    }
}

/// Emits a session's events from `from` on, each with `turn`, `turn_began_at` (before the first turn: when the session
/// began), and for ends of tool calls `began_at`.
pub(super) fn timeline(
    journal: &Journal,
    entry: &SessionEntry,
    turn: Option<u64>,
    from: u64,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let mut state = SessionState::new(entry.stream.clone());
    let mut running = Running::default();
    for envelope in journal.stream(entry.stream.session, 0, usize::MAX)? {
        state.apply(&envelope);
        let began = running.follow(&envelope);
        if envelope.seq < from || turn.is_some_and(|turn| turn != state.turns) {
            continue;
        }
        let mut line = views::without_payload(codec::to_json(&envelope, None));
        line["turn"] = state.turns.into();
        line["turn_began_at"] = json!(state.turn.started_at.or(state.started_at));
        if let Some(began) = began {
            line["began_at"] = json!(began);
        }
        send(emit, line)?;
    }
    Ok(())
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
