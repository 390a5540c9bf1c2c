//! Past decisions: lists and totals.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use checkpoint::Policy;
use checkpoint::follow_up::{self, FollowUp};
use journal::{Agent, Decision, Envelope, Event, Journal, Outcome, Timestamp, Verdict};
use uuid::Uuid;

use super::delivery::obstacle;
use super::filter::{PastSessions, Project, Whose};
use super::marks::{ByRule, Marks};
use super::policies::policies;
use super::question::{Audit, Emit, Result, send};
use crate::ops::views::{Benefit, DecisionRow, DemandEnd, Group, Summary, Totals};

/// Hands every wanted decision to `each`, the newest first, with its outcome and its session's project.
pub(super) fn walk(
    journal: &Journal,
    filter: &Audit,
    mut each: impl FnMut(&Envelope, &Decision, Outcome, &Project) -> Result<()>,
) -> Result<()> {
    let mut whose = Whose::new(
        journal,
        filter.session.as_deref(),
        filter.agent,
        filter.project.as_deref(),
        filter.machine.as_deref(),
    )?;
    if filter.limit == Some(0) {
        return Ok(());
    }
    let text = filter.text.as_deref().map(str::to_lowercase);
    let mut found = 0;
    for decided in journal.decisions_before(filter.before.unwrap_or(u64::MAX)) {
        let (seq, outcome) = decided?;
        let Some(envelope) = journal.event(seq)? else {
            continue;
        };
        let Event::Decided(decision) = &envelope.event else {
            continue;
        };
        // Decisions come newest first; a decision is recorded after it happened, so nothing older can be wanted.
        if filter
            .since
            .is_some_and(|since| envelope.recorded_at < since)
        {
            break;
        }
        let wanted = filter
            .verdict
            .is_none_or(|verdict| decision.verdict == verdict)
            && filter.reason.is_none_or(|reason| decision.reason == reason)
            && filter.since.is_none_or(|since| envelope.at >= since)
            && filter.until.is_none_or(|until| envelope.at <= until)
            && text.as_deref().is_none_or(|text| says(decision, text));
        if wanted && whose.fits(&envelope)? {
            each(
                &envelope,
                decision,
                outcome,
                whose.project(&envelope.stream)?,
            )?;
            found += 1;
        }
        if filter.limit.is_some_and(|limit| found >= limit) {
            break;
        }
    }
    Ok(())
}

/// Returns whether a lower-case text occurs in a decision's message, actions or observations.
fn says(decision: &Decision, text: &str) -> bool {
    let actions = decision.actions.iter().map(|action| &action.text);
    let mut said = decision
        .message
        .iter()
        .chain(actions)
        .chain(&decision.observations);
    said.any(|said| said.to_lowercase().contains(text))
}

/// Emits the wanted decisions, the oldest first.
pub(super) fn list(journal: &Journal, filter: &Audit, emit: &mut Emit<'_>) -> Result<()> {
    let mut lines = Vec::new();
    let mut followed = Followed::new(journal)?;
    walk(journal, filter, |envelope, decision, outcome, project| {
        let obstacle = obstacle(journal, envelope, outcome)?;
        let mut line = DecisionRow::new(envelope, decision, outcome, obstacle);
        line.project = Some(project.path.clone());
        line.remote.clone_from(&project.remote);
        if decision.verdict == Verdict::Inject {
            let (end, _) = followed.end(envelope)?;
            line.demand = end.map(|end| DemandEnd::of(&end.of));
        }
        lines.push(line);
        Ok(())
    })?;
    lines.iter().rev().try_for_each(|line| send(emit, line))
}

/// How long turns were: from what the timer counts from to the last stop that was decided about.
#[derive(Default)]
pub(super) struct TurnLengths(HashMap<(Uuid, u64), (Timestamp, Timestamp)>);

impl TurnLengths {
    /// Takes a decision about one of a turn's stops.
    pub(super) fn add(&mut self, envelope: &Envelope, decision: &Decision) {
        if let Some(elapsed) = decision.elapsed_ms {
            let began = envelope.at.minus(std::time::Duration::from_millis(elapsed));
            let turn = self
                .0
                .entry((envelope.stream.session, decision.turn))
                .or_insert((began, envelope.at));
            *turn = (turn.0.min(began), turn.1.max(envelope.at));
        }
    }

    /// Returns each turn's length, the shortest first.
    pub(super) fn lengths_ms(&self) -> Vec<u64> {
        let mut lengths: Vec<_> = self
            .0
            .values()
            .map(|(began, ended)| ended.millis_since(*began))
            .collect();
        lengths.sort_unstable();
        lengths
    }

    /// Returns the middle turn's length; of an even number of turns the longer one of the middle two.
    pub(super) fn median_ms(&self) -> Option<u64> {
        let lengths = self.lengths_ms();
        lengths.get(lengths.len() / 2).copied()
    }
}

/// The outcomes of demands, and people's marks on them, computed once for each session.
pub(super) struct Followed<'a> {
    journal: &'a Journal,
    policies: HashMap<u64, Policy>,
    sessions: HashMap<Uuid, (HashMap<u64, End>, Marks)>,
}

/// The outcome of a demand, and how long the agent worked on it.
pub(super) struct End {
    pub(super) of: FollowUp,
    pub(super) ms: u64,
}

impl End {
    /// Returns for a demand whose end is known how long it took to meet it, if it was met.
    pub(super) fn met(&self) -> Option<Option<u64>> {
        match self.of {
            FollowUp::Fulfilled => Some(Some(self.ms)),
            FollowUp::Unfulfilled(_) => Some(None),
            FollowUp::Open | FollowUp::Unknown | FollowUp::Withheld => None,
        }
    }
}

impl<'a> Followed<'a> {
    /// Begins with the journal's policies.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn new(journal: &'a Journal) -> Result<Self> {
        Ok(Self {
            journal,
            policies: policies(journal)?,
            sessions: HashMap::new(),
        })
    }

    /// Returns the outcome of a decision's demand, if it made one, and the session's marks.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn end(&mut self, decided: &Envelope) -> Result<(Option<&End>, &Marks)> {
        let (ends, marks) = match self.sessions.entry(decided.stream.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let events = self.journal.stream(decided.stream.session, 0, usize::MAX)?;
                let ends = follow_up::all_of_session(&events, &self.policies).into_iter();
                let ends = ends.filter_map(|it| {
                    Some((
                        it.decision,
                        End {
                            of: it.end?,
                            ms: it.ms,
                        },
                    ))
                });
                new.insert((ends.collect(), Marks::of_session(&events)))
            }
        };
        Ok((ends.get(&decided.seq), marks))
    }
}

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
            turns: self.turns.0.len(),
            median_turn_ms: self.turns.median_ms(),
            ..self.totals
        }
    }
}

/// Returns the totals of the wanted decisions, in all and for each agent in each project. Decisions about imported sessions
/// sent nothing and do not count.
///
/// A demand counts as met as [`follow_up::of_session`] says.
pub(super) fn summary(journal: &Journal, filter: &Audit) -> Result<Summary> {
    let mut followed = Followed::new(journal)?;
    let mut total = Counter::default();
    let mut groups = BTreeMap::<_, (Agent, Counter)>::new();
    let machine = |envelope: &Envelope| Some(envelope.origin.as_ref()?.machine.clone());
    let mut remotes = BTreeMap::new();
    let mut rules = ByRule::default();
    let mut past = PastSessions::default();
    walk(journal, filter, |envelope, decision, outcome, project| {
        if past.has(journal, envelope)? {
            return Ok(());
        }
        let (end, marks) = followed.end(envelope)?;
        let end = end.map(|end| &end.of);
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
        benefit: Benefit::default(),
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
