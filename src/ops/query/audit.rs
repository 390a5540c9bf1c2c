//! Past decisions, and what followed them.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use checkpoint::Policy;
use checkpoint::follow_up::{self, FollowUp};
use journal::{Decision, Envelope, Event, Journal, Outcome, Timestamp, Verdict};
use uuid::Uuid;

use super::filter::{Project, Whose};
use super::marks::Marks;
use super::open::policies;
use super::question::{Audit, Emit, Result, send};
use crate::ops::views::{DecisionRow, DemandEnd};

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
            let end = followed.of(envelope)?.end(envelope.seq);
            line.demand = end.map(DemandEnd::of);
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

/// What followed demands, and people's marks on them, computed once for each session.
pub(super) struct Followed<'a> {
    journal: &'a Journal,
    policies: HashMap<u64, Policy>,
    sessions: HashMap<Uuid, OfSession>,
}

/// What followed the demands of a session.
pub(super) struct OfSession {
    /// By decision.
    pub(super) followed: HashMap<u64, follow_up::Followed>,
    pub(super) marks: Marks,
    /// The events about which it was decided and that are no stops: work that leaves.
    leaving: HashSet<u64>,
    /// Its machine withholds a part of it.
    pub(super) is_cut: bool,
}

impl OfSession {
    /// Returns the outcome of a decision's demand, if it made one.
    pub(super) fn end(&self, decision: u64) -> Option<&FollowUp> {
        self.followed.get(&decision)?.end.as_ref()
    }

    /// Returns whether a command or a part of the work was let through: no stop, and no checkpoint.
    pub(super) fn let_leave(&self, decision: &Decision) -> bool {
        decision.verdict == Verdict::Pass && self.leaving.contains(&decision.trigger)
    }
}

/// Returns the numbers of the events by which work leaves.
pub(super) fn leaving(events: &[Envelope]) -> HashSet<u64> {
    let leaves = |one: &&Envelope| matches!(one.event, Event::WorkLeaves { .. });
    events.iter().filter(leaves).map(|one| one.seq).collect()
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

    /// Returns what followed in the session of a decision.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn of(&mut self, decided: &Envelope) -> Result<&OfSession> {
        Ok(match self.sessions.entry(decided.stream.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let events = self.journal.stream(decided.stream.session, 0, usize::MAX)?;
                let followed = follow_up::of_session(&events, &self.policies).into_iter();
                new.insert(OfSession {
                    followed: followed.map(|it| (it.decision, it)).collect(),
                    marks: Marks::of_session(&events),
                    leaving: leaving(&events),
                    is_cut: events.iter().any(Envelope::is_withheld),
                })
            }
        })
    }
}

/// How many events of a session after a decision are searched for the outcome of its delivery.
const DELIVERY_EVENTS_MAX: usize = 4_096;

/// Returns the word for what a checkpoint waits for, or for why it was not delivered.
pub(super) fn obstacle(
    journal: &Journal,
    decided: &Envelope,
    outcome: Outcome,
) -> Result<Option<String>> {
    let mut word = None;
    if matches!(outcome, Outcome::None | Outcome::Confirmed) {
        return Ok(word);
    }
    // Events about a delivery follow soon after its decision.
    for envelope in journal.stream(decided.stream.session, decided.seq, DELIVERY_EVENTS_MAX)? {
        match envelope.event {
            Event::DeliveryHeld { decision, obstacle } if decision == decided.seq => {
                word = Some(obstacle)
            }
            Event::DeliveryEntered { decision, .. } if decision == decided.seq => word = None,
            Event::DeliveryFailed { decision, reason }
            | Event::DeliveryExpired { decision, reason }
                if decision == decided.seq =>
            {
                return Ok(Some(reason));
            }
            _ => {}
        }
    }
    Ok(word)
}
