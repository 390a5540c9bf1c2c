//! What checkpoints do, measured: turns that got one, beside turns that were held back at random (spec DECIDE-24).

use std::collections::{BTreeSet, HashMap};

use journal::{
    Envelope, Event, Evidence, PromptOrigin, Reason, SummaryVerdict, ToolCall, ToolKind, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::gathered::Gathered;
use crate::policy::Policy;

/// How many of the next turns count as later.
const LATER_TURNS: usize = 3;
/// The smallest difference that is looked for, where less was observed.
const LEAST: f64 = 0.1;
/// Of the standard normal distribution: two sides of 5 %, and a power of 80 %.
const Z: f64 = 1.959_964;
const POWER: f64 = 0.841_621;
/// What a message begins with, or says, that corrects the work before it.
const CORRECTIONS: [&str; 17] = [
    "doesn't work",
    "does not work",
    "still fail",
    "still broken",
    "still not",
    "you forgot",
    "you missed",
    "that's wrong",
    "this is wrong",
    "that is wrong",
    "not what i",
    "revert",
    "undo",
    "is broken",
    "you broke",
    "fix the",
    "why did you",
];

/// What followed one turn in which something was due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Number of the decision.
    pub decision: u64,
    /// It was held back.
    pub is_held: bool,
    /// The next message corrects the work.
    pub corrected: bool,
    /// One of the files was edited in a later turn.
    pub edited_again: bool,
    /// Tests, a build or a check failed in a later turn.
    pub failed_later: bool,
    /// From the decision to the end of the turn.
    pub ms: u64,
    /// Tool calls meanwhile.
    pub calls: u64,
}

/// Returns what followed the turns of a session that were part of an experiment and that a person has answered.
pub fn observe(events: &[Envelope], policies: &HashMap<u64, Policy>) -> Vec<Observed> {
    let is_message = |envelope: &&Envelope| {
        matches!(
            &envelope.event,
            Event::PromptSubmitted {
                origin: PromptOrigin::User,
                ..
            }
        )
    };
    let begins: Vec<u64> = events
        .iter()
        .filter(is_message)
        .map(|envelope| envelope.seq)
        .collect();
    let turn_of = |seq: u64| begins.partition_point(|begin| *begin <= seq);
    let mut gathered = Gathered::default();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (at, envelope) in events.iter().enumerate() {
        match &envelope.event {
            event @ (Event::EvidenceGathered { .. } | Event::FactsGathered { .. }) => {
                gathered.feed(&mut event.clone());
            }
            Event::Decided(decision) => {
                let evidence = gathered.take(decision.trigger).unwrap_or_default();
                let is_held = decision.reason == Reason::HeldOut;
                let is_sent = decision.verdict == Verdict::Inject
                    && matches!(
                        decision.reason,
                        Reason::ActionsDue | Reason::ObservationsOnly | Reason::LeavesOpen
                    )
                    && policies
                        .get(&decision.policy)
                        .is_some_and(|policy| policy.holdout > 0);
                let turn = turn_of(envelope.seq);
                // Only the first of a turn was left to chance.
                if (is_held || is_sent) && seen.insert(turn) {
                    let rest = events[at + 1..].iter();
                    let later = |one: &Envelope| turn_of(one.seq) - turn;
                    found.extend(followed(
                        is_held,
                        envelope,
                        &evidence,
                        rest.map(|one| (later(one), one)),
                    ));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns what followed a decision; none if no message came since. Each event has its distance in turns.
fn followed<'a>(
    is_held: bool,
    decided: &Envelope,
    evidence: &Evidence,
    rest: impl Iterator<Item = (usize, &'a Envelope)>,
) -> Option<Observed> {
    let files = evidence.changes.files().unwrap_or_default();
    let touches = |call: &ToolCall| {
        let is_edit = matches!(call.kind, ToolKind::Edit | ToolKind::Write);
        let names = |path: &String| files.iter().any(|file| path.ends_with(&file.path));
        is_edit && call.paths.iter().any(names)
    };
    let mut answer = None;
    let mut seen = Observed {
        decision: decided.seq,
        is_held,
        ..Observed::default()
    };
    for (later, envelope) in rest.take_while(|(later, _)| *later <= LATER_TURNS) {
        match &envelope.event {
            Event::PromptSubmitted {
                origin: PromptOrigin::User,
                text,
                ..
            } if later == 1 => {
                answer.get_or_insert(corrects(text));
            }
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                if later == 0 {
                    seen.calls += 1;
                    seen.ms = seen.ms.max(envelope.at.millis_since(decided.at));
                }
                seen.edited_again |= later > 0 && touches(call);
            }
            Event::CallExamined { examined, .. } if later > 0 => {
                let mut verdicts = examined.summaries.iter().map(|summary| summary.verdict);
                seen.failed_later |= verdicts.any(|verdict| verdict == SummaryVerdict::Failed);
            }
            _ => {}
        }
    }
    seen.corrected = answer?;
    Some(seen)
}

/// Returns whether a message reads as a correction of the work before it.
fn corrects(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let first = text
        .split(|char: char| !char.is_alphanumeric())
        .find(|word| !word.is_empty());
    matches!(first, Some("no" | "nope" | "wrong"))
        || CORRECTIONS.iter().any(|sign| text.contains(sign))
}

/// Both arms beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Turns with a checkpoint.
    pub sent: u64,
    /// Turns that were held back.
    pub held: u64,
    /// Each outcome.
    pub outcomes: Vec<Difference>,
    /// Median milliseconds from the decision to the end of the turn: sent, held.
    pub median_ms: [u64; 2],
    /// Median tool calls meanwhile: sent, held.
    pub median_calls: [u64; 2],
}

/// How often something followed, in both arms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub outcome: String,
    /// How often with a checkpoint.
    pub sent: u64,
    /// How often without.
    pub held: u64,
    /// The share without one, less that with one: above 0 if checkpoints help.
    pub difference: f64,
    /// Its 95 % interval (Newcombe).
    pub interval: [f64; 2],
    /// How many more turns each arm needs to tell the difference from none, with a power of 80 %.
    pub needed: u64,
}

/// Compares the arms.
pub fn compare(observed: &[Observed]) -> Effect {
    let [sent, held] = [false, true].map(|is_held| {
        let arm = observed.iter().filter(|one| one.is_held == is_held);
        arm.collect::<Vec<_>>()
    });
    let outcome = |name: &str, of: fn(&Observed) -> bool| {
        let count = |arm: &[&Observed]| arm.iter().filter(|one| of(one)).count() as u64;
        let (with, without) = (count(&sent), count(&held));
        let arms = [(without, held.len() as u64), (with, sent.len() as u64)];
        let (difference, interval) = newcombe(arms);
        Difference {
            outcome: name.to_owned(),
            sent: with,
            held: without,
            difference,
            interval,
            needed: needed(arms),
        }
    };
    let median = |of: fn(&Observed) -> u64| {
        [&sent, &held].map(|arm| {
            let mut all: Vec<u64> = arm.iter().map(|one| of(one)).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or_default()
        })
    };
    Effect {
        sent: sent.len() as u64,
        held: held.len() as u64,
        outcomes: vec![
            outcome("corrected", |one| one.corrected),
            outcome("edited_again", |one| one.edited_again),
            outcome("failed_later", |one| one.failed_later),
        ],
        median_ms: median(|one| one.ms),
        median_calls: median(|one| one.calls),
    }
}

/// Returns a share with its interval (Wilson).
fn wilson((count, all): (u64, u64)) -> (f64, f64, f64) {
    if all == 0 {
        return (0.0, 0.0, 1.0);
    }
    let (share, all) = (count as f64 / all as f64, all as f64);
    let middle = share + Z * Z / (2.0 * all);
    let half = Z * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
    let whole = 1.0 + Z * Z / all;
    (share, (middle - half) / whole, (middle + half) / whole)
}

/// Returns the difference of two shares with its interval.
fn newcombe([one, other]: [(u64, u64); 2]) -> (f64, [f64; 2]) {
    let (p, p_low, p_high) = wilson(one);
    let (q, q_low, q_high) = wilson(other);
    let below = ((p - p_low).powi(2) + (q_high - q).powi(2)).sqrt();
    let above = ((p_high - p).powi(2) + (q - q_low).powi(2)).sqrt();
    (p - q, [p - q - below, p - q + above])
}

fn needed([one, other]: [(u64, u64); 2]) -> u64 {
    // One more of each kind, so that an empty arm is no certainty.
    let share = |(count, all): (u64, u64)| (count as f64 + 1.0) / (all as f64 + 2.0);
    let (p, q) = (share(one), share(other));
    let difference = (p - q).abs().max(LEAST);
    let each = (Z + POWER).powi(2) * (p * (1.0 - p) + q * (1.0 - q)) / difference.powi(2);
    (each.ceil() as u64).saturating_sub(one.1.min(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws turns of both arms, of which a share was corrected.
    fn drawn(seed: u64, turns: usize, share: [f64; 2]) -> Vec<Observed> {
        let chance = |turn: usize, of: &str| {
            let hash = crate::digest::of_text(&format!("{seed} {turn} {of}"));
            hash as f64 / u64::MAX as f64
        };
        let turn = |turn: usize| {
            let is_held = chance(turn, "arm") < 0.5;
            Observed {
                decision: 1,
                is_held,
                corrected: chance(turn, "corrected") < share[usize::from(is_held)],
                edited_again: false,
                failed_later: false,
                ms: 10,
                calls: 1,
            }
        };
        (0..turns).map(turn).collect()
    }

    #[test]
    fn an_effect_is_found_within_its_interval_and_none_gives_none() {
        let (mut found, mut held, mut false_alarms) = (0, 0, 0);
        for seed in 0..200 {
            let [low, high] = compare(&drawn(seed, 500, [0.1, 0.3])).outcomes[0].interval;
            found += u32::from(low > 0.0);
            held += u32::from(low <= 0.2 && 0.2 <= high);
            let [low, high] = compare(&drawn(seed, 500, [0.2, 0.2])).outcomes[0].interval;
            false_alarms += u32::from(low > 0.0 || high < 0.0);
        }
        assert!(
            found >= 195,
            "an effect of 20 points was found {found} of 200 times"
        );
        assert!(held >= 184, "its interval held it {held} of 200 times");
        assert!(
            false_alarms <= 16,
            "none was taken for one {false_alarms} of 200 times"
        );
    }

    #[test]
    fn nothing_observed_says_how_much_is_needed() {
        let effect = compare(&[]);
        assert_eq!((effect.sent, effect.held), (0, 0));
        let first = &effect.outcomes[0];
        assert_eq!((first.difference, first.interval), (0.0, [-1.0, 1.0]));
        assert!((300..500).contains(&first.needed), "{first:?}");
        let many = compare(&drawn(1, 2_000, [0.1, 0.3]));
        assert_eq!(many.outcomes[0].needed, 0);
    }

    #[test]
    fn corrections_are_told_from_new_work() {
        for text in [
            "No, use the other table",
            "It still fails.",
            "that’s wrong",
            "please revert this",
        ] {
            assert!(corrects(text), "{text}");
        }
        for text in [
            "Now add a test",
            "thanks!",
            "Notify the user",
            "nothing else",
            "",
        ] {
            assert!(!corrects(text), "{text}");
        }
    }
}
