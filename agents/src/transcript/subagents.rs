//! What subagents did, from their own transcripts. Where any of their calls is known, these are the evidence, and what the
//! subagent says of its work is none (spec EVID-13).

use journal::CallOutcome;

use super::facts::{Facts, Subagent};

impl Facts {
    /// Forgets what a subagent says: its calls are known.
    pub fn forget_word(&mut self, subagent: &str) {
        let is_its = |outcome: &CallOutcome| {
            let mut subagents = self.subagents.iter();
            subagents.any(|known| known.id == subagent && known.call == outcome.call)
        };
        self.outcomes.retain(|outcome| !is_its(outcome));
    }

    /// Adds the calls of a subagent, by its transcript, among those of the turn, by time.
    pub fn add_subagent(&mut self, subagent: &str, theirs: Self) {
        self.forget_word(subagent);
        let began = self.began.unwrap_or_default();
        let ours = std::mem::take(&mut self.calls).into_iter();
        let mut placed: Vec<_> = ours.zip((0..).map(Source::Ours)).collect();
        for (call, source) in theirs.calls.into_iter().zip((0..).map(Source::Theirs)) {
            // It may have worked in earlier turns too.
            let mut known = placed.iter();
            let is_known = known.any(|(it, _)| it.id.is_some() && it.id == call.id);
            if call.at >= began && !is_known {
                let before = placed.iter().rposition(|(known, _)| known.at <= call.at);
                placed.insert(before.map_or(0, |before| before + 1), (call, source));
            }
        }
        let place = |source: Source| placed.iter().position(|(_, known)| *known == source);
        for outcome in &mut self.outcomes {
            outcome.call = place(Source::Ours(outcome.call)).unwrap_or(outcome.call);
        }
        for known in &mut self.subagents {
            known.call = place(Source::Ours(known.call)).unwrap_or(known.call);
        }
        for said in &mut self.said {
            let before = said.calls.checked_sub(1);
            let before = before.and_then(|before| place(Source::Ours(before)));
            said.calls = before.map_or(said.calls, |before| before + 1);
        }
        let outcomes = theirs.outcomes.into_iter().filter_map(|outcome| {
            let call = place(Source::Theirs(outcome.call))?;
            Some(CallOutcome { call, ..outcome })
        });
        self.outcomes.extend(outcomes);
        self.outcomes.sort_by_key(|outcome| outcome.call);
        let subagents = theirs.subagents.into_iter().filter_map(|known| {
            let call = place(Source::Theirs(known.call))?;
            Some(Subagent { call, ..known })
        });
        self.subagents.extend(subagents);
        self.calls = placed.into_iter().map(|(call, _)| call).collect();
    }
}

/// Where a call comes from, and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Ours(usize),
    Theirs(usize),
}
