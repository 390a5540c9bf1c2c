//! Which contents of the changed files the calls of a turn ran on, by what was recorded as they ended (spec EVID-4).

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::state::{ExaminedCall, SessionState, Turn};
use journal::{CallOutcome, Evidence, Examined, Seen, TimelineSource, ToolCall};

use crate::digests;
use crate::others::{Others, Ran};

/// Adds to the evidence of a stop what was read of its calls as they ended.
pub(crate) fn note(
    evidence: &mut Evidence,
    (state, others): (&SessionState, &Others),
    top: Option<&Path>,
    within: Duration,
) {
    let others = top.map(|top| others.runs(state.session(), top));
    let others = others.unwrap_or_default();
    let calls = &evidence.timeline.calls;
    let placed = state.turn.examined.iter();
    let placed = placed.filter_map(|call| Some((place(calls, &state.turn, call)?, call)));
    let placed: Vec<(usize, &Examined)> = placed
        .map(|(place, call)| (place, &*call.examined))
        .collect();
    if placed.is_empty() && others.is_empty() {
        return;
    }
    for (call, examined) in &placed {
        note_outcome(&mut evidence.facts.outcomes, *call, examined);
    }
    let (Some(top), Some(files)) = (top, evidence.changes.files()) else {
        return;
    };
    let paths = files.iter().map(|file| file.path.as_bytes());
    let now = digests::take(top, paths, None, Instant::now() + within);
    let of_tree = placed.iter().filter(|(_, it)| Path::new(&it.top) == top);
    // A call that only wrote files is in it without any: that is known of it.
    let of_tree = of_tree.map(|(call, examined)| {
        let seen = seen(*call, examined, &now.contents);
        let has_any = !seen.same.is_empty() || !seen.other.is_empty();
        (has_any || !examined.unknown.is_empty()).then_some(seen)
    });
    evidence.facts.seen = of_tree.flatten().collect();
    evidence.facts.seen.sort_by_key(|seen| seen.call);
    if evidence.timeline.source != TimelineSource::None {
        // One that ran on fewer files cannot have run on all of these.
        let enough = others
            .iter()
            .filter(|ran| ran.examined.contents.len() >= now.contents.len());
        enough.for_each(|ran| add(evidence, ran, &now.contents));
    }
}

/// Adds a call of another session to the timeline, if it ran on all that this session's stop leaves (spec EVID-19).
fn add(evidence: &mut Evidence, ran: &Ran, now: &[(String, u64)]) {
    let call = evidence.timeline.calls.len();
    let seen = seen(call, &ran.examined, now);
    if seen.same.is_empty() || seen.same.len() < now.len() {
        return;
    }
    evidence.timeline.calls.push(ran.call.clone());
    note_outcome(&mut evidence.facts.outcomes, call, &ran.examined);
    evidence.facts.seen.push(seen);
}

/// Compares what the files hold now with what they held.
fn seen(call: usize, examined: &Examined, now: &[(String, u64)]) -> Seen {
    let then: HashMap<&str, u64> = examined
        .contents
        .iter()
        .map(|(path, digest)| (path.as_str(), *digest))
        .collect();
    let mut seen = Seen {
        call,
        ..Seen::default()
    };
    for (path, digest) in now {
        let is_other = match then.get(path.as_str()) {
            Some(then) => then != digest,
            None if examined.is_cut || examined.unknown.contains(path) => continue,
            None => true,
        };
        let list = if is_other {
            &mut seen.other
        } else {
            &mut seen.same
        };
        list.push(path.clone());
    }
    seen
}

/// Adds what a call printed, unless the transcript says it.
fn note_outcome(outcomes: &mut Vec<CallOutcome>, call: usize, examined: &Examined) {
    let says = !examined.summaries.is_empty() || examined.ended.is_some();
    if says && outcomes.iter().all(|known| known.call != call) {
        let at = outcomes.partition_point(|known| known.call < call);
        let outcome = CallOutcome {
            call,
            summaries: examined.summaries.clone(),
            ended: examined.ended,
        };
        outcomes.insert(at, outcome);
    }
}

/// Returns the position of a call in the timeline: by its id, or, of calls that look the same, by their order.
fn place(calls: &[ToolCall], turn: &Turn, examined: &ExaminedCall) -> Option<usize> {
    if let Some(id) = &examined.id {
        let by_id = calls.iter().position(|call| call.id.as_ref() == Some(id));
        return by_id;
    }
    let journaled = |call: &&ToolCall| call.id.is_none() && call.at == examined.at;
    let call = turn.calls.iter().find(journaled)?;
    let same = |other: &ToolCall| {
        other.tool == call.tool && other.command == call.command && other.paths == call.paths
    };
    let before = turn.calls.iter().take_while(|other| other.at < call.at);
    let number = before.filter(|other| same(other)).count();
    let alike = calls.iter().enumerate().filter(|(_, other)| same(other));
    alike.map(|(place, _)| place).nth(number)
}
