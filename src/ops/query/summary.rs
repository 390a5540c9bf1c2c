//! Totals of past decisions.

use std::collections::{BTreeMap, BTreeSet};

use checkpoint::effect::{self, Effect};
use checkpoint::follow_up::FollowUp;
use journal::{Agent, Decision, Envelope, Journal, Outcome, Verdict};

use super::audit::{Followed, TurnLengths, walk};
use super::benefit;
use super::filter::PastSessions;
use super::marks::{ByRule, Marks};
use super::open::policies;
use super::question::{Audit, Result};
use crate::ops::views::{Benefit, Group, Summary, Totals};

/// Counts decisions.
#[derive(Default)]
struct Counter {
    totals: Totals,
    turns: TurnLengths,
}

impl Counter {
    fn add(
        &mut self,
        envelope: &Envelope,
        decision: &Decision,
        outcome: Outcome,
        follow_up: Option<&FollowUp>,
        marks: &Marks,
    ) {
        let totals = &mut self.totals;
        totals.decisions += 1;
        if decision.verdict == Verdict::Inject {
            totals.injected += 1;
            match outcome {
                Outcome::Confirmed => totals.confirmed += 1,
                Outcome::Failed => totals.failed += 1,
                Outcome::Expired => totals.expired += 1,
                Outcome::Pending => totals.pending += 1,
                Outcome::None => {}
            }
        } else {
            totals.passed += 1;
            let word = decision.reason.word().to_owned();
            *totals.passed_by_reason.entry(word).or_default() += 1;
        }
        totals.wrong += u64::from(marks.any(envelope.seq));
        self.turns.add(envelope, decision);
        // Open demands are not counted.
        let is_met = matches!(follow_up, Some(FollowUp::Fulfilled));
        totals.met += u64::from(is_met);
        totals.withheld += u64::from(follow_up == Some(&FollowUp::Withheld));
        totals.demands += u64::from(is_met || matches!(follow_up, Some(FollowUp::Unfulfilled(_))));
    }

    fn totals(self) -> Totals {
        Totals {
            turns: self.turns.lengths_ms().len(),
            median_turn_ms: self.turns.median_ms(),
            ..self.totals
        }
    }
}

/// Returns what the wanted checkpoints did, and the totals of the wanted decisions, in all and for each agent in each
/// project. Decisions about imported sessions sent nothing and do not count.
///
/// A demand counts as met as [`checkpoint::follow_up::of_session`] says.
pub(super) fn summary(journal: &Journal, filter: &Audit) -> Result<Summary> {
    let mut followed = Followed::new(journal)?;
    let (mut benefit, mut total) = (Benefit::default(), Counter::default());
    let mut groups = BTreeMap::<_, (Agent, Counter)>::new();
    let machine = |envelope: &Envelope| Some(envelope.origin.as_ref()?.machine.clone());
    let mut remotes = BTreeMap::new();
    let mut rules = ByRule::default();
    let mut past = PastSessions::default();
    walk(journal, filter, |envelope, decision, outcome, project| {
        if past.has(journal, envelope)? {
            return Ok(());
        }
        let of = followed.of(envelope)?;
        if of.let_leave(decision) {
            return Ok(());
        }
        let (end, marks) = (of.end(envelope.seq), &of.marks);
        benefit::add(&mut benefit, envelope, decision, outcome, of);
        rules.add(envelope.seq, decision, end, marks);
        total.add(envelope, decision, outcome, end, marks);
        let agent = envelope.stream.agent;
        let key = (
            machine(envelope),
            agent.word().to_owned(),
            project.path.clone(),
        );
        remotes
            .entry(key.clone())
            .or_insert_with(|| project.remote.clone());
        let group = groups.entry(key);
        let (_, group) = group.or_insert_with(|| (agent, Counter::default()));
        group.add(envelope, decision, outcome, end, marks);
        Ok(())
    })?;
    let groups = groups.into_iter();
    Ok(Summary {
        benefit,
        rules: rules.totals(),
        total: total.totals(),
        groups: groups
            .map(|(key, (agent, counter))| Group {
                remote: remotes.remove(&key).flatten(),
                machine: key.0,
                agent,
                project: key.2,
                totals: counter.totals(),
            })
            .collect(),
    })
}

/// Compares what checkpoints did with turns that were held back (spec DECIDE-24), of the wanted decisions that were part of an experiment.
pub(super) fn compare(journal: &Journal, filter: &Audit) -> Result<Effect> {
    let policies = policies(journal)?;
    let mut wanted = BTreeMap::<_, BTreeSet<u64>>::new();
    walk(journal, filter, |envelope, _, _, _| {
        let of_session = wanted.entry(envelope.stream.session).or_default();
        of_session.insert(envelope.seq);
        Ok(())
    })?;
    let mut observed = Vec::new();
    for (session, decisions) in wanted {
        let events = journal.stream(session, 0, usize::MAX)?;
        let found = effect::observe(&events, &policies).into_iter();
        observed.extend(found.filter(|one| decisions.contains(&one.decision)));
    }
    Ok(effect::compare(&observed))
}
