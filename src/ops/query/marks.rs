//! What people said about demands: which were not warranted (spec DECIDE-21).

use std::collections::BTreeMap;

use checkpoint::demands::{self, Demand};
use checkpoint::follow_up::FollowUp;
use journal::{Decision, Envelope, Event, Verdict};

use crate::ops::views::{MarkView, RuleTotals};

/// The marks of one session: by decision, each demand that is marked wrong, with the note.
#[derive(Debug, Default)]
pub(super) struct Marks(BTreeMap<u64, BTreeMap<Option<u32>, String>>);

impl Marks {
    pub(super) fn of_session(events: &[Envelope]) -> Self {
        let mut marks = Self::default();
        for envelope in events {
            let Event::MarkedWrong {
                decision,
                item,
                note,
                wrong,
            } = &envelope.event
            else {
                continue;
            };
            let of_decision = marks.0.entry(*decision).or_default();
            match (wrong, item) {
                (true, _) => drop(of_decision.insert(*item, note.clone())),
                (false, None) => of_decision.clear(),
                (false, Some(_)) => drop(of_decision.remove(item)),
            }
        }
        marks
    }

    /// Returns the marks of a decision.
    pub(super) fn of(&self, decision: u64) -> Vec<MarkView> {
        let marked = self.0.get(&decision).into_iter().flatten();
        marked
            .map(|(item, note)| MarkView {
                item: *item,
                note: note.clone(),
            })
            .collect()
    }

    /// Returns whether a decision has a mark.
    pub(super) fn any(&self, decision: u64) -> bool {
        self.0.get(&decision).is_some_and(|of| !of.is_empty())
    }

    fn is_wrong(&self, decision: u64, demand: &Demand<'_>) -> bool {
        let marked = self.0.get(&decision);
        marked.is_some_and(|of| of.contains_key(&None) || of.contains_key(&Some(demand.item)))
    }
}

/// Counts the demands of decisions by rule.
#[derive(Debug, Default)]
pub(super) struct ByRule(BTreeMap<String, RuleTotals>);

impl ByRule {
    /// Takes the decision with the sequence number `seq`.
    pub(super) fn add(
        &mut self,
        seq: u64,
        decision: &Decision,
        follow_up: Option<&FollowUp>,
        marks: &Marks,
    ) {
        // Without the actions' categories, the rules are unknown.
        if decision.verdict == Verdict::Pass || follow_up == Some(&FollowUp::Withheld) {
            return;
        }
        for demand in demands::of(decision) {
            let totals = self.0.entry(demand.rule.to_owned()).or_default();
            totals.demanded += 1;
            totals.wrong += u64::from(marks.is_wrong(seq, &demand));
            if demand.is_action {
                let is_met = match follow_up {
                    Some(FollowUp::Fulfilled) => true,
                    Some(FollowUp::Unfulfilled(left)) => {
                        !left.iter().any(|action| action.text == demand.text)
                    }
                    _ => false,
                };
                *totals.met.get_or_insert(0) += u64::from(is_met);
            }
        }
    }

    /// Returns the totals, the rule with the most demands first.
    pub(super) fn totals(self) -> Vec<RuleTotals> {
        let rules = self.0.into_iter();
        let mut totals: Vec<_> = rules
            .map(|(rule, totals)| RuleTotals { rule, ..totals })
            .collect();
        totals.sort_by_key(|totals| std::cmp::Reverse(totals.demanded));
        totals
    }
}
