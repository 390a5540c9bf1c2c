//! Walks along sessions: the place of each event in its turn, and the last position of each reader.
//!
//! The place of an event follows from all that came before it. A client that follows a session asks repeatedly for what
//! came since, so the ends of the last walks are kept, and the next one continues from there.

use std::collections::VecDeque;

use checkpoint::state::SessionState;
use journal::{Envelope, Event, Journal, Stream, Timestamp, ToolCall};
use parking_lot::Mutex;

use super::question::Result;

/// Ends of walks that are kept; of more, the least recently used go.
const KEPT_MAX: usize = 16;
/// Maximum number of remembered tool calls without an end, the oldest removed first: an interrupted call never ends.
const RUNNING_MAX: usize = 256;
/// Maximum number of events in one read.
const READ_AT_ONCE: usize = 1_024;

/// A place in a session's history: its state there, and the tool calls that run.
#[derive(Clone)]
pub(super) struct Walk {
    /// The state after all events that were folded so far.
    pub(super) state: SessionState,
    running: VecDeque<(ToolCall, Timestamp)>,
}

impl Walk {
    fn begin(stream: &Stream) -> Self {
        Self {
            state: SessionState::new(stream.clone()),
            running: VecDeque::new(),
        }
    }

    /// Takes the next event. For the end of a tool call, returns when the call began, if known.
    fn step(&mut self, envelope: &Envelope) -> Option<Timestamp> {
        self.state.apply(envelope);
        match &envelope.event {
            Event::ToolStarted { call, .. } => {
                if self.running.len() == RUNNING_MAX {
                    self.running.pop_front();
                }
                self.running.push_back((call.clone(), envelope.at));
                None
            }
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                // Gemini's hooks have no ids.
                let same = |(known, _): &(ToolCall, Timestamp)| match &call.id {
                    Some(id) => known.id.as_ref() == Some(id),
                    None => {
                        known.tool == call.tool
                            && known.command == call.command
                            && known.paths == call.paths
                    }
                };
                let begun = self
                    .running
                    .iter()
                    .position(same)
                    .and_then(|index| self.running.remove(index));
                let took = call.duration_ms.map(std::time::Duration::from_millis);
                let began = begun
                    .map(|(_, at)| at)
                    .or_else(|| took.map(|took| envelope.at.minus(took)));
                Some(began.unwrap_or(envelope.at))
            }
            _ => None,
        }
    }
}

/// Walks that can be continued.
#[derive(Default)]
pub(super) struct Walks(Mutex<VecDeque<Walk>>);

impl Walks {
    /// Hands every event of a session from `from` on to `each`, in order, with the state after it, and for ends of tool
    /// calls when they began. Reads only what came after the last walk that ended before `from`.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read, or `each` has one.
    pub(super) fn along(
        &self,
        journal: &Journal,
        stream: &Stream,
        from: u64,
        mut each: impl FnMut(&Envelope, &SessionState, Option<Timestamp>) -> Result<()>,
    ) -> Result<()> {
        let mut walk = self.before(stream, from);
        loop {
            let read = journal.stream(stream.session, walk.state.last_seq, READ_AT_ONCE)?;
            for envelope in &read {
                let began = walk.step(envelope);
                if envelope.seq >= from {
                    each(envelope, &walk.state, began)?;
                }
            }
            if read.len() < READ_AT_ONCE {
                self.keep(walk);
                return Ok(());
            }
        }
    }

    /// Returns the walk that came furthest without coming to `from`, or one that begins.
    fn before(&self, stream: &Stream, from: u64) -> Walk {
        let mut kept = self.0.lock();
        let fits = |walk: &Walk| walk.state.stream == *stream && walk.state.last_seq < from;
        let places = kept.iter().enumerate().filter(|(_, walk)| fits(walk));
        let best = places
            .max_by_key(|(_, walk)| walk.state.last_seq)
            .map(|(index, _)| index);
        let Some(walk) = best.and_then(|index| kept.remove(index)) else {
            return Walk::begin(stream);
        };
        // Another client may have reached the same place.
        kept.push_back(walk.clone());
        walk
    }

    fn keep(&self, walk: Walk) {
        let mut kept = self.0.lock();
        kept.retain(|known| {
            known.state.stream != walk.state.stream || known.state.last_seq != walk.state.last_seq
        });
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(walk);
    }
}

#[cfg(test)]
mod tests {
    use journal::Agent;

    use super::*;

    #[test]
    fn a_walk_goes_on_from_the_nearest_place_that_is_kept() {
        let (walks, stream, other) = (
            Walks::default(),
            Stream::of_native(Agent::Claude, "one"),
            Stream::of_native(Agent::Claude, "two"),
        );
        let keep = |last_seq| {
            let mut walk = Walk::begin(&stream);
            walk.state.last_seq = last_seq;
            walks.keep(walk);
        };
        let begins_at = |stream: &Stream, from| walks.before(stream, from).state.last_seq;
        [10, 30, 20, 30].into_iter().for_each(keep);
        assert_eq!(
            [1, 10, 11, 25, 31, 99].map(|from| begins_at(&stream, from)),
            [0, 0, 10, 20, 30, 30]
        );
        assert_eq!(begins_at(&other, 99), 0, "another session");
        // A walk that was used stays longest.
        for last_seq in 100..200 {
            keep(last_seq);
            assert_eq!(begins_at(&stream, 11), 10);
        }
        assert_eq!(
            (begins_at(&stream, 99), walks.0.lock().len()),
            (10, KEPT_MAX)
        );
    }
}
