//! Transcript and journal together: each knows calls, and ends of calls, that the other does not know yet.

use journal::{CallOutcome, Timeline, TimelineSource, ToolCall};

use super::facts::{Facts, Said};
use reading::outcome;

/// A turn's calls, and what their outputs say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The calls.
    pub timeline: Timeline,
    /// What their outputs say, in the order of the calls.
    pub outcomes: Vec<CallOutcome>,
    /// What the agent said between them.
    pub said: Vec<Said>,
}

/// A call, and its position in the transcript.
type Placed = (ToolCall, Option<usize>);

/// Joins the calls of a transcript with the journaled ones of the same turn, so that every tool use is there once.
///
/// Calls with the same id are the same. Gemini's hooks have no ids, so there it is the next call with the same tool,
/// command and files. The transcript wins, except for the end of a call that it does not have yet.
pub fn join(transcript: Option<Facts>, journaled: &[ToolCall]) -> Joined {
    let Some(facts) = transcript else {
        let calls = merged(Vec::new(), journaled);
        let source = if calls.is_empty() {
            TimelineSource::None
        } else {
            TimelineSource::Journal
        };
        return joined(source, calls, &[], Vec::new());
    };
    let begun = facts.began.unwrap_or_default();
    let (mut calls, mut taken) = (facts.calls, Vec::new());
    taken.resize(calls.len(), false);
    let mut unknown = Vec::new();
    for call in journaled {
        let mut known = calls.iter().zip(&taken);
        match known.position(|(known, taken)| is_same(known, call, *taken)) {
            Some(at) => {
                taken[at] = true;
                complete(&mut calls[at], call);
            }
            // What began before the turn did belongs to an earlier one. Gemini (no ids) writes its whole list again,
            // with the time of writing, when it compacts or resumes, so there the journal knows better.
            None if call.id.is_some() && call.at < begun => {}
            None => unknown.push(call.clone()),
        }
    }
    let placed = calls.into_iter().zip((0..).map(Some)).collect();
    let (source, all) = (TimelineSource::Transcript, merged(placed, &unknown));
    joined(source, all, &facts.outcomes, facts.said)
}

/// Ends the calls that belong to another call, as their ids say (`ID:..`): the commands in a skill's text. No hook reports
/// their ends, but if one fails, so does the call.
fn end_parts(placed: &mut [Placed]) {
    for at in 0..placed.len() {
        let (part, _) = &placed[at];
        let whole = part.id.as_deref().and_then(|id| id.split_once(':'));
        let Some((whole, _)) = whole.filter(|_| !part.finished) else {
            continue;
        };
        let mut calls = placed.iter().map(|(call, _)| call);
        let ended = calls.any(|call| {
            call.id.as_deref() == Some(whole) && call.finished && !call.is_error && !call.refused
        });
        placed[at].0.finished = ended;
    }
}

/// Gives the outcomes the positions of their calls in the timeline. Of a call that only the journal knows, there is the
/// output of a failure.
fn joined(
    source: TimelineSource,
    mut placed: Vec<Placed>,
    outcomes: &[CallOutcome],
    mut said: Vec<Said>,
) -> Joined {
    end_parts(&mut placed);
    let outcome = |(at, (call, known)): (usize, &Placed)| {
        let known = known.and_then(|known| outcomes.iter().find(|said| said.call == known));
        let outcome = known.cloned().unwrap_or_else(|| CallOutcome {
            summaries: outcome::read(&call.output),
            ..CallOutcome::default()
        });
        let is_of_use = !outcome.summaries.is_empty() || outcome.ended.is_some();
        is_of_use.then_some(CallOutcome {
            call: at,
            ..outcome
        })
    };
    // A message stays behind the call of the transcript that it followed.
    for said in &mut said {
        let before = said.calls.checked_sub(1);
        let place = placed.iter().position(|(_, known)| *known == before);
        said.calls = before.and(place).map_or(said.calls, |place| place + 1);
    }
    Joined {
        said,
        outcomes: placed.iter().enumerate().filter_map(outcome).collect(),
        timeline: Timeline {
            source,
            calls: placed.into_iter().map(|(call, _)| call).collect(),
        },
    }
}

fn is_same(known: &ToolCall, call: &ToolCall, taken: bool) -> bool {
    match (&known.id, &call.id) {
        (Some(known), Some(id)) => known == id,
        _ => {
            !taken
                && known.tool == call.tool
                && known.command == call.command
                && known.paths == call.paths
        }
    }
}

/// Takes over what `other` says about the end of the same call.
fn complete(call: &mut ToolCall, other: &ToolCall) {
    if !call.finished && other.finished {
        (call.finished, call.is_error, call.refused) = (true, other.is_error, other.refused);
        call.output.clone_from(&other.output);
    }
    // The hook's duration leaves out the wait for a person's permission.
    call.duration_ms = other.duration_ms.or(call.duration_ms);
}

/// Puts each of `more` behind the calls that began no later; calls of one id become one.
fn merged(mut calls: Vec<Placed>, more: &[ToolCall]) -> Vec<Placed> {
    for call in more {
        let mut all = calls.iter_mut();
        if let Some((known, _)) = all.find(|(it, _)| it.id.is_some() && it.id == call.id) {
            complete(known, call);
            continue;
        }
        let before = calls.iter().rposition(|(known, _)| known.at <= call.at);
        let place = before.map_or(0, |at| at + 1);
        calls.insert(place, (call.clone(), None));
    }
    calls
}

#[cfg(test)]
mod tests {
    use journal::Timestamp;

    use super::*;

    fn call(id: &str, command: &str, at: i64) -> ToolCall {
        let id = Some(id).filter(|id| !id.is_empty()).map(str::to_owned);
        let at = Timestamp::from_micros(at);
        ToolCall {
            id,
            tool: "Bash".to_owned(),
            command: Some(command.to_owned()),
            at,
            ..ToolCall::default()
        }
    }

    fn ended(call: ToolCall, is_error: bool) -> ToolCall {
        ToolCall {
            finished: true,
            is_error,
            ..call
        }
    }

    fn facts(calls: Vec<ToolCall>) -> Option<Facts> {
        Some(Facts {
            calls,
            ..Facts::default()
        })
    }

    /// One word a call: its command, then `!` if it failed, `?` if it has not ended.
    fn line(joined: &Joined) -> String {
        let timeline = &joined.timeline;
        let words = timeline.calls.iter().map(|call| {
            let mark = if call.is_error {
                "!"
            } else if call.finished {
                ""
            } else {
                "?"
            };
            format!("{}{mark}", call.command.as_deref().unwrap_or_default())
        });
        format!(
            "{:?}: {}",
            timeline.source,
            words.collect::<Vec<_>>().join(" ")
        )
    }

    #[test]
    fn both_sides_give_every_call_once() {
        let open = || call("1", "a", 10);
        let cases = [
            (None, vec![], "None: "),
            (None, vec![open(), ended(open(), true)], "Journal: a!"),
            (facts(vec![]), vec![], "Transcript: "),
            (facts(vec![]), vec![open()], "Transcript: a?"),
            (
                facts(vec![open()]),
                vec![ended(open(), true)],
                "Transcript: a!",
            ),
            (
                facts(vec![ended(open(), true)]),
                vec![open()],
                "Transcript: a!",
            ),
            // Codex's hooks do not know how a command ended.
            (
                facts(vec![ended(open(), true)]),
                vec![ended(open(), false)],
                "Transcript: a!",
            ),
            (
                facts(vec![open(), call("3", "c", 30)]),
                vec![call("2", "b", 20)],
                "Transcript: a? b? c?",
            ),
            (
                facts(vec![call("3", "c", 30)]),
                vec![call("4", "d", 40), open()],
                "Transcript: a? c? d?",
            ),
        ];
        for (transcript, journaled, expected) in cases {
            assert_eq!(line(&join(transcript, &journaled)), expected);
        }
    }

    #[test]
    fn calls_without_ids_are_matched_in_order() {
        let known = vec![
            call("x", "make", 10),
            call("y", "make", 20),
            call("z", "ls", 30),
        ];
        let journaled = [
            ended(call("", "make", 11), false),
            ended(call("", "make", 21), true),
            call("", "make", 31),
        ];
        assert_eq!(
            line(&join(facts(known), &journaled)),
            "Transcript: make make! ls? make?"
        );
    }

    #[test]
    fn calls_of_an_earlier_turn_stay_out() {
        let at = Timestamp::from_micros(20);
        let facts = Facts {
            began: Some(at),
            ..Facts::default()
        };
        assert_eq!(
            line(&join(
                Some(facts),
                &[call("1", "a", 10), call("2", "b", 20)]
            )),
            "Transcript: b?"
        );
    }
}
